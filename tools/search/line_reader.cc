#include "tools/search/line_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace agon::tools {
namespace {

constexpr std::size_t kBuffer = 1 << 20;

}  // namespace

LineReader::LineReader(const std::filesystem::path& path, std::size_t longest)
    : path_(path.string()), longest_(longest), buffer_(kBuffer, '\0') {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) throw Error("{}: is a folder, not a file.", path_);
  file_.reset(std::fopen(path_.c_str(), "rbe"));
  if (!file_) throw Error("{}: cannot be read: {}. Check the path.", path_, std::strerror(errno));
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (!code) size_ = static_cast<std::int64_t>(size);
}

bool LineReader::fill() {
  begin_ = 0;
  end_ = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
  if (end_ == 0 && std::ferror(file_.get())) throw Error("{}: reading broke off: {}.", path_, std::strerror(errno));
  return end_ > 0;
}

bool LineReader::next() {
  line_.clear();
  too_long_ = false;
  if (begin_ == end_ && !fill()) return false;
  for (bool whole = false; !whole && (begin_ < end_ || fill());) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const std::size_t newline = rest.find('\n');
    whole = newline != std::string_view::npos;
    const std::string_view piece = rest.substr(0, newline);
    too_long_ = too_long_ || line_.size() + piece.size() > longest_;
    line_ += piece.substr(0, longest_ - std::min(line_.size(), longest_));
    begin_ += piece.size() + (whole ? 1 : 0);
    bytes_ += static_cast<std::int64_t>(piece.size() + (whole ? 1 : 0));
  }
  if (line_.ends_with('\r')) line_.pop_back();
  ++number_;
  return true;
}

}  // namespace agon::tools
