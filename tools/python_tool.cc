#include "tools/python_tool.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "sandbox/sandbox.h"

namespace agon::tools {
namespace {

using sandbox::Reason;
using sandbox::Result;
using sandbox::Session;

constexpr ImageLimits kPictureLimits{
    .max_pixels = 4'000'000, .max_side = 8192, .max_encoded_bytes = 64ll << 20, .cpu_seconds = 2};
constexpr int kLongest = 100;           // largest ratio of a picture's sides
constexpr double kSecondsToStart = 60;  // on top of the code's time: starting a launcher on a busy machine
constexpr const char* kEnded =
    "\nThe interpreter has ended. The next code starts in a fresh one, without earlier variables and files.";

std::size_t blanks_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// The number of backticks in the fence that begins the line: at least three, after at most three blanks. 0: no fence.
std::size_t fence_of(std::string_view line) {
  const std::size_t begin = blanks_of(line);
  const std::size_t ticks = std::min(line.find_first_not_of('`', begin), line.size()) - begin;
  return begin <= 3 && ticks >= 3 ? ticks : 0;
}

// Reads a line of Python and tracks triple-quoted strings: `open` is the quote character of the open one, 0 if there is
// none. Skips comments, one-line strings and escaped characters.
void read_quotes(std::string_view line, char& open) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '\\') {
      ++at;
    } else if (c == '#' && !open) {
      return;
    } else if (c == '"' || c == '\'') {
      const bool three = line.substr(at).starts_with(std::string(3, c));
      if (three && (!open || open == c)) {
        open = open ? '\0' : c;
        at += 2;
      } else if (!open) {  // skips to the end of the string or the line
        for (++at; at < line.size() && line[at] != c; ++at)
          if (line[at] == '\\') ++at;
      }
    }
  }
}

// The code with up to `blanks` leading blanks removed from each line.
std::string outdented(std::string_view code, std::size_t blanks) {
  std::string lines;
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size() - 1) + 1;
    const std::string_view line = code.substr(begin, end - begin);
    lines += line.substr(std::min(blanks, blanks_of(line)));
    begin = end;
  }
  return lines;
}

// The lines between the first line that begins with a fence and the next line that is a fence of at least that length;
// the whole text if no line begins with a fence. Each line loses as many blanks as the first fence has before it. A
// closing fence inside a triple-quoted string counts as code if another closing fence follows.
std::string without_fence(const std::string& text) {
  std::size_t ticks = 0, blanks = 0, begin = 0, end = text.npos, last = text.npos;
  char quote = 0;
  for (std::size_t line_begin = 0; line_begin < text.size() && end == text.npos;) {
    const std::size_t line_end = std::min(text.find('\n', line_begin), text.size());
    const std::string_view line = std::string_view(text).substr(line_begin, line_end - line_begin);
    const std::size_t fence = fence_of(line);
    const bool opens = fence > 0 && ticks == 0 && line_end < text.size() && !quote;
    if (opens) {
      ticks = fence;
      blanks = blanks_of(line);
      begin = line_end + 1;
    } else if (ticks > 0 && fence >= ticks && trim(line).size() == fence) {
      last = line_begin;
      if (!quote) end = line_begin;
    }
    if (!opens) read_quotes(line, quote);
    line_begin = line_end + 1;
  }
  if (ticks == 0) return text;
  if (end == text.npos) end = last;
  std::string_view code = std::string_view(text).substr(begin, end - begin);
  const std::string fence(ticks, '`');  // may also end the last line of code: "print(1)```"
  if (end == text.npos && std::string_view(trim(code)).ends_with(fence)) code = code.substr(0, code.rfind(fence));
  return outdented(code, blanks);
}

// The text; if it has more than `most` bytes, only its head and tail.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::string_view head = cut_text(text, most / 2);
  const std::string_view tail = last_bytes(text, most / 2);
  return fmt::format("{}\n[... {} bytes ...]\n{}", head, text.size() - head.size() - tail.size(), tail);
}

std::string picture_name(std::size_t number) { return fmt::format("picture_{}.png", number); }

ToolFault fault_of(Reason reason) {
  if (reason == Reason::sandbox_lost) return ToolFault::unavailable;
  return reason == Reason::wall_timeout || reason == Reason::cpu_limit ? ToolFault::timeout : ToolFault::failed;
}

std::string printed_by(const Result& result) {
  std::string text = result.out;
  if (!text.empty() && !text.ends_with('\n') && !result.err.empty()) text += '\n';
  return std::string(trim(text + result.err));
}

// The message for code that failed. If it raised an exception, `printed` already holds the traceback.
std::string why_ended(const Result& result, std::string printed) {
  if (result.reason != Reason::exception) {
    printed += fmt::format("{}{}: {}", printed.empty() ? "" : "\n", to_string(result.reason), result.text);
    if (!result.alive && result.reason != Reason::sandbox_lost) printed += kEnded;
  }
  return printed.empty() ? result.text : printed;
}

std::int64_t bytes_of(const Result& result) {
  auto bytes = static_cast<std::int64_t>(result.out.size() + result.err.size()) + result.dropped_bytes;
  for (const sandbox::Artifact& artifact : result.artifacts) bytes += static_cast<std::int64_t>(artifact.bytes.size());
  return bytes;
}

class PythonTool : public Tool {
 public:
  PythonTool(std::shared_ptr<Interpreters> interpreters, const PythonToolOptions& options)
      : interpreters_(std::move(interpreters)), options_(options) {
    spec_.name = "python";
    spec_.description = fmt::format(
        "Runs Python code, with numpy and cv2, and keeps variables and files for the next call. \"{}\" is "
        "the newest picture; what is written to \"{}\" is shown next.",
        kInputPicture, kOutputPicture);
    spec_.tag = spec_.tag_argument = "code";
    spec_.schema = {{"type", "object"},
                    {"properties", {{"code", {{"type", "string"}, {"description", "Python code."}}}}},
                    {"required", {"code"}},
                    {"additionalProperties", false}};
    spec_.timeout_seconds = options.seconds + kSecondsToStart;
  }

  const ToolSpec& spec() const override { return spec_; }

  ToolResult call(const Json& arguments, const ToolContext& context) override {
    const std::size_t pictures = context.pictures.size();
    const std::string text = without_fence(arguments.at("code"));
    // The answer to code that writes a picture is the picture, not the True of cv2.imwrite.
    const bool shows = text.find(kOutputPicture) == text.npos && text.find(kInputPicture) == text.npos;
    std::string code = replace_all(text, kOutputPicture, picture_name(pictures + 1));
    if (pictures > 0) code = replace_all(code, kInputPicture, picture_name(pictures));
    try {
      std::string restarted = std::exchange(lost_, "");
      restarted += prepare(context);
      Result result = session_->run({.code = code, .pictures = true, .show_bools = shows, .wall = context.seconds});
      if (!result.ran && result.reason != Reason::sandbox_lost) {  // earlier code ended the interpreter
        restarted += fmt::format("The interpreter had ended ({}): this code ran in a fresh one.\n", result.text);
        session_.reset();
        prepare(context);
        result = session_->run({.code = code, .pictures = true, .show_bools = shows, .wall = context.seconds});
      }
      if (!result.alive) session_.reset();
      return answer(result, restarted, picture_name(pictures + 1));
    } catch (const Error& error) {
      session_.reset();
      return ToolResult::failure(ToolFault::unavailable, error.what());
    }
  }

  std::unique_ptr<Tool> fork() const override {
    auto copy = std::make_unique<PythonTool>(interpreters_, options_);
    copy->lost_ = lost_;
    if (!session_) return copy;
    try {
      copy->session_ = std::make_unique<Session>(session_->fork());
    } catch (const Error& error) {
      if (session_->lost()) throw;
      copy->lost_ =
          fmt::format("The interpreter could not be kept ({}): this code ran in a fresh one.\n", error.what());
    }
    return copy;
  }

 private:
  // Puts the newest picture into the interpreter's workspace. If that fails, because code filled the workspace or put
  // something else in the picture's place, starts a fresh interpreter and returns a note for the policy.
  std::string prepare(const ToolContext& context) {
    if (session_ && put_picture(context)) return {};
    const bool first = !session_;
    session_ = interpreters_->open(options_.seconds, options_.seed);
    if (!put_picture(context)) throw Error("python: the picture does not fit into a fresh workspace");
    return first ? "" : "The picture could not be put into the workspace: the interpreter was started anew.\n";
  }

  bool put_picture(const ToolContext& context) {
    if (context.pictures.empty()) return true;
    const std::vector<std::uint8_t> png = encode_image(context.pictures.back(), ImageFormat::png);
    try {
      session_->write(picture_name(context.pictures.size()), std::string(png.begin(), png.end()));
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  ToolResult answer(const Result& result, const std::string& restarted, const std::string& output) const {
    ToolResult answer;
    answer.bytes = bytes_of(result);
    std::string text = restarted + shortened(printed_by(result), options_.most_bytes);
    if (!result.ok()) {
      answer.error = ToolError{fault_of(result.reason), why_ended(result, std::move(text))};
      return answer;
    }
    const Image picture = picture_of(result, output, text);
    if (text.empty() && picture.empty()) text = "The code ran, printed nothing and wrote no picture.";
    if (!text.empty()) answer.parts.push_back(Part::of(std::move(text)));
    if (!picture.empty()) answer.parts.push_back(Part::of(picture));
    return answer;
  }

  // The new picture; empty if there is none or it cannot be shown, and then `text` says why.
  static Image picture_of(const Result& result, const std::string& output, std::string& text) {
    if (result.artifacts.empty()) return {};
    auto chosen = std::find_if(result.artifacts.begin(), result.artifacts.end(),
                               [&](const sandbox::Artifact& artifact) { return artifact.name == output; });
    if (chosen == result.artifacts.end()) --chosen;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(chosen->bytes.data());
    try {
      const std::string name = printable_line(chosen->name);
      const Image picture = decode_image({bytes, chosen->bytes.size()}, name, kPictureLimits);
      const auto [shorter, longer] = std::minmax({picture.width(), picture.height()});
      if (longer > kLongest * shorter)
        throw Error("{}: {} x {} is too long for a picture.", name, picture.width(), picture.height());
      return picture;
    } catch (const Error& error) {
      text += fmt::format("{}The picture cannot be shown: {}", text.empty() ? "" : "\n", error.what());
      return {};
    }
  }

  const std::shared_ptr<Interpreters> interpreters_;
  const PythonToolOptions options_;
  ToolSpec spec_;
  std::unique_ptr<Session> session_;
  std::string lost_;  // the next call's note about a lost interpreter
};

}  // namespace

Interpreters::Interpreters(std::string launcher) : launcher_(std::move(launcher)) {}
Interpreters::~Interpreters() = default;

std::shared_ptr<Interpreters> Interpreters::of_process() {
  static const auto shared = std::make_shared<Interpreters>();
  return shared;
}

void Interpreters::start() { running(); }

std::unique_ptr<sandbox::Session> Interpreters::open(double seconds, std::uint64_t seed) {
  sandbox::Limits limits;
  limits.wall = limits.cpu = seconds;
  return std::make_unique<Session>(running()->open(limits, seed));
}

std::shared_ptr<sandbox::Sandbox> Interpreters::running() {
  const std::lock_guard lock(mutex_);
  if (!sandbox_ || sandbox_->lost()) {
    sandbox::SandboxConfig config;
    config.launcher = launcher_;
    sandbox_ = std::make_shared<sandbox::Sandbox>(config);
  }
  return sandbox_;
}

std::unique_ptr<Tool> make_python_tool(std::shared_ptr<Interpreters> interpreters, const PythonToolOptions& options) {
  return std::make_unique<PythonTool>(std::move(interpreters), options);
}

}  // namespace agon::tools
