#include "env/kit/task_pictures.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "core/error.h"
#include "core/hash.h"
#include "core/json_parse.h"
#include "core/pictures/image.h"
#include "core/pictures/video_file.h"
#include "core/progress.h"
#include "core/text.h"
#include "env/kit/task_file.h"

namespace agon::env {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kToldPictures = 5;
constexpr std::uintmax_t kEnds = 1 << 16;  // bytes at either end of a file that identify it

struct Picture {
  fs::path path;
  bool is_video = false;
  std::size_t task = 0;  // the first that shows it
  std::uint64_t hash = 0;
  std::string fault;
};

// Each picture and video once, in the order of the tasks.
std::vector<Picture> pictures_of(const std::vector<FileTask>& tasks) {
  std::vector<Picture> pictures;
  std::set<fs::path> seen;
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    for (const fs::path& path : tasks[task].pictures)
      if (seen.insert(path).second) pictures.push_back({path, false, task, 0, {}});
    for (const fs::path& path : tasks[task].videos)
      if (seen.insert(path).second) pictures.push_back({path, true, task, 0, {}});
  }
  return pictures;
}

// Calls look(picture) for each picture on several threads; an exception becomes the picture's fault.
template <typename Look>
void look_at(std::vector<Picture>& pictures, const std::string& label, const Look& look) {
  Progress progress(label, std::ssize(pictures), "pictures", 0, kMostlyShort);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < pictures.size(); progress.add(1)) try {
        look(pictures[i]);
      } catch (const std::exception& error) {
        pictures[i].fault = error.what();
      }
  };
  const std::size_t most = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  std::vector<std::jthread> threads(std::min(most, pictures.size() / 16));
  for (std::jthread& thread : threads) thread = std::jthread(work);
  work();
}

// Makes text of a user's file fit on one line of a message.
std::string one_line(std::string_view text) {
  constexpr std::size_t kMostTold = 500;
  const std::string_view start = cut_text(text, kMostTold);
  return printable_line(start) + (start.size() < text.size() ? "..." : "");
}

void throw_faults(const std::vector<Picture>& pictures, const std::vector<FileTask>& tasks) {
  std::string told;
  std::size_t count = 0;
  for (const Picture& picture : pictures) {
    if (picture.fault.empty() || ++count > kToldPictures) continue;
    const FileTask& task = tasks[picture.task];
    told += fmt::format("{}{}: task {}: {}", count == 1 ? "" : "\n  ", task.place, one_line(task.id),
                        one_line(picture.fault));
  }
  if (count > kToldPictures) told += fmt::format("\n  and {} more pictures", count - kToldPictures);
  if (count > 0) throw Error("{}", told);
}

}  // namespace

void check_and_hash_pictures(const std::string& path, std::vector<FileTask>& tasks) {
  std::vector<Picture> pictures = pictures_of(tasks);
  if (pictures.empty()) return;
  look_at(pictures, fmt::format("{}: checking its pictures", path), [](Picture& picture) {
    if (picture.is_video)
      check_video(picture.path);
    else
      check_image(picture.path, {.most_elongated = kMostElongated});
    picture.hash = hash_ends(picture.path, kEnds);
  });
  throw_faults(pictures, tasks);
  std::map<fs::path, std::uint64_t> hashes;
  for (const Picture& picture : pictures) hashes.emplace(picture.path, picture.hash);
  for (FileTask& task : tasks)
    for (const auto* paths : {&task.pictures, &task.videos})
      for (const fs::path& shown : *paths)
        task.hash = hash_text(fmt::format("{:016x} {:016x}", task.hash, hashes.at(shown)));
}

void decode_pictures(const std::string& path, const std::vector<FileTask>& tasks) {
  std::vector<Picture> pictures = pictures_of(tasks);
  look_at(pictures, fmt::format("{}: decoding its pictures", path), [](const Picture& picture) {
    if (picture.is_video) {
      load_video(picture.path, {.spread = FrameSampling::Spread::ends, .count = 1});
      return;
    }
    const std::string bytes = read_file(picture.path.string());
    verify_image({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, picture.path.string());
  });
  throw_faults(pictures, tasks);
}

std::vector<Part> place_pictures(std::string_view prompt, std::vector<Image> pictures) {
  std::vector<Part> parts;
  const bool marked = prompt.find(kPictureMark) != prompt.npos;
  for (Image& picture : pictures) {
    const std::size_t mark = marked ? prompt.find(kPictureMark) : 0;
    if (mark > 0) parts.push_back(Part::of(std::string(prompt.substr(0, mark))));
    parts.push_back(Part::of(std::move(picture)));
    if (marked) prompt.remove_prefix(mark + kPictureMark.size());
  }
  if (!prompt.empty()) parts.push_back(Part::of(std::string(prompt)));
  return parts;
}

}  // namespace agon::env
