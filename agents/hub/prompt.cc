#include "agents/hub/prompt.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace agon::agents {
namespace {

using Position = std::array<std::int32_t, 3>;

// Appends the positions of one image's tokens, from `start` on.
void append_image(const ImageGrid& grid, int merge, std::int32_t start, std::vector<Position>& positions) {
  for (int t = 0; t < grid.t; ++t)
    for (int h = 0; h < grid.h / merge; ++h)
      for (int w = 0; w < grid.w / merge; ++w) positions.push_back({start + t * grid.time_step, start + h, start + w});
}

void require_text_alone(const std::vector<Message>& messages, const ModelConfig& model) {
  for (const Message& message : messages)
    for (const Part& part : message.parts)
      if (!part.is_text())
        throw Error("prompt: a message has a {}, and this model ({}) reads only text.",
                    part.is_video() ? "video" : "picture", model.model_type);
}

std::size_t run_length(std::span<const std::int32_t> ids, std::int32_t id) {
  return static_cast<std::size_t>(std::find_if(ids.begin(), ids.end(), [id](auto i) { return i != id; }) - ids.begin());
}

class PromptEncoder {
 public:
  PromptEncoder(const Tokenizer& tokenizer, const ImageProcessorConfig& images, const ModelConfig& model,
                PatchedPictures* known)
      : tokenizer_(tokenizer), images_(images), model_(model), known_(known) {}

  void add(const PromptPiece& piece) {
    if (closed_ && closes_again(piece)) return;
    switch (piece.kind) {
      case PromptPiece::Kind::markup:
        add_markup(piece.text);
        break;
      case PromptPiece::Kind::text:
        append(tokenizer_.encode(piece.text, false, place()));
        break;
      case PromptPiece::Kind::image:
        add_image(piece.image);
        break;
      case PromptPiece::Kind::video:
        add_video(*piece.video);
        break;
      case PromptPiece::Kind::tokens:
        append(piece.token_ids);
        closed_ = ends_turn(piece.token_ids);
        break;
    }
  }
  EncodedPrompt take() { return std::move(result_); }

 private:
  // After a turn with its own end token: whether the piece is the template's end token for that turn, or blanks before
  // it. Such pieces are dropped.
  bool closes_again(const PromptPiece& piece) {
    const bool is_text = piece.kind == PromptPiece::Kind::text;
    if (is_text && piece.text.find_first_not_of(' ') == std::string::npos) {
      blanks_ += piece.text;
      return true;
    }
    closed_ = false;
    const std::string blanks = std::exchange(blanks_, {});
    if (piece.kind == PromptPiece::Kind::markup && is_end(special_id(piece.text))) return true;
    if (!blanks.empty()) append(tokenizer_.encode(blanks, false, place()));
    return false;
  }
  std::int32_t special_id(const std::string& token) const {
    const auto id = tokenizer_.id_of(token);
    if (!id || !tokenizer_.is_special(*id))  // else a user could write it
      throw Error("prompt: the tokenizer has no special token {}. Does tokenizer.json belong to this model?", token);
    return *id;
  }
  void add_markup(const std::string& token) { result_.ids.push_back(special_id(token)); }
  TextPlace place() const {
    if (result_.ids.empty()) return TextPlace::start;
    return tokenizer_.is_special(result_.ids.back()) ? TextPlace::after_token : TextPlace::within;
  }
  void append(std::span<const std::int32_t> ids) { result_.ids.insert(result_.ids.end(), ids.begin(), ids.end()); }
  void check_token(const std::string& token, std::string_view key, std::int32_t id) const {
    if (const std::int32_t known = special_id(token); known != id)
      throw Error("prompt: {} is {} in tokenizer.json and {} is {} in config.json", token, known, key, id);
  }
  void add_image(const Image& image) {
    check_token("<|image_pad|>", "image_token_id", model_.image_token_id);
    check_fits(image);
    add_patched(known_ ? known_->cut(image) : std::make_shared<const PatchedImage>(process_image(image, images_)),
                model_.image_token_id);
  }
  void add_patched(std::shared_ptr<const PatchedImage> patched, std::int32_t token) {
    result_.ids.insert(result_.ids.end(), static_cast<std::size_t>(image_tokens(patched->grid, images_)), token);
    result_.images.push_back(std::move(patched));
  }
  void add_video(const Video& video) {
    check_token("<|video_pad|>", "video_token_id", model_.video_token_id);
    const VideoPlan plan = plan_video(video, images_, *model_.vision);
    check_fits(video, plan);
    const auto cut =
        known_ ? known_->cut(video, plan) : std::make_shared<const PatchedVideo>(cut_video(video, plan, images_));
    for (std::size_t i = 0; i < cut->parts.size(); ++i) {
      const bool is_apart = !cut->timestamps.empty();
      if (is_apart) {
        append(tokenizer_.encode(cut->timestamps[i], false, place()));
        result_.ids.push_back(model_.vision_start_token_id);
      }
      add_patched(cut->parts[i], model_.video_token_id);
      if (is_apart) result_.ids.push_back(model_.vision_end_token_id);
    }
  }
  void check_fits(const Video& video, const VideoPlan& plan) const {
    const std::int64_t tokens = image_tokens(plan.grid, images_), context = model_.text.max_position_embeddings;
    if (tokens > context)
      throw Error(
          "prompt: {} frames of a video of {} x {} pixels take {} tokens, the context of this model holds {}. Show "
          "fewer "
          "frames, or lower max_pixels in video_preprocessor_config.json.",
          plan.frames.size(), video.frames.front().width(), video.frames.front().height(), tokens, context);
    const std::int64_t span = std::int64_t{plan.grid.t} * plan.grid.time_step;
    if (plan.grid.time_step > 1 && span > context)
      throw Error(
          "prompt: the frames of a video are {} positions apart, and {} of them leave the {} positions of this model. "
          "Show more frames a second, or a shorter video.",
          plan.grid.time_step, plan.grid.t, context);
  }
  // Called before memory is allocated for the picture.
  void check_fits(const Image& image) const {
    const Size given{image.width(), image.height()}, size = images_.do_resize ? smart_resize(given, images_) : given;
    const std::int64_t side = std::int64_t{images_.patch_size} * images_.merge_size;
    const std::int64_t tokens = (size.width / side) * (size.height / side);
    const std::int64_t context = model_.text.max_position_embeddings;
    if (tokens > context)
      throw Error(
          "prompt: a picture of {} x {} pixels takes {} tokens, the context of this model holds {}. Scale the picture "
          "down, or lower max_pixels in preprocessor_config.json.",
          image.width(), image.height(), tokens, context);
  }
  bool is_end(std::int32_t id) const {
    const auto& ends = model_.eos_token_ids;
    return std::find(ends.begin(), ends.end(), id) != ends.end();
  }
  bool ends_turn(std::span<const std::int32_t> ids) const { return !ids.empty() && is_end(ids.back()); }

  const Tokenizer& tokenizer_;
  const ImageProcessorConfig& images_;
  const ModelConfig& model_;
  PatchedPictures* const known_;
  bool closed_ = false;  // the last piece was a turn with its own end token, ignoring
  std::string blanks_;   // these blanks after it
  EncodedPrompt result_;
};

}  // namespace

std::vector<Position> mrope_positions(std::span<const std::int32_t> ids, std::span<const ImageGrid> grids,
                                      const ModelConfig& config, std::int32_t* next) {
  const int merge = config.vision ? config.vision->spatial_merge_size : 1;
  std::vector<Position> positions;
  positions.reserve(ids.size());
  std::int32_t start = 0;
  std::size_t image = 0;
  while (positions.size() < ids.size()) {
    const auto rest = ids.subspan(positions.size());
    if (!config.shows(rest.front())) {
      positions.push_back({start, start, start});
      ++start;
      continue;
    }
    if (image == grids.size()) throw Error("prompt: it has image tokens for more than its {} images", grids.size());
    const ImageGrid& grid = grids[image++];
    const std::size_t run = run_length(rest, rest.front());
    const auto tokens = static_cast<std::size_t>(grid.patches() / (merge * merge));
    if (run != tokens)
      throw Error("prompt: image {} has {} tokens in the prompt, its picture gives {}", image, run, tokens);
    append_image(grid, merge, start, positions);
    start += std::max(grid.h, grid.w) / merge;
  }
  if (image != grids.size()) throw Error("prompt: it has tokens of {} images, {} are given", image, grids.size());
  if (next != nullptr) *next = start;
  return positions;
}

EncodedPrompt encode_prompt(const std::vector<Message>& messages, std::string_view prefix, const ChatTemplate& chat,
                            const Tokenizer& tokenizer, const ImageProcessorConfig& images, const ModelConfig& model,
                            PatchedPictures* known, const ChatInputs& inputs) {
  if (!model.vision) require_text_alone(messages, model);
  PromptEncoder encoder(tokenizer, images, model, known);
  for (const PromptPiece& piece : chat.render(messages, prefix, inputs)) encoder.add(piece);
  return encoder.take();
}

}  // namespace agon::agents
