#include "core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "core/error.h"

namespace agon {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 255;  // bytes of a file's name
constexpr std::string_view kEnding = ".tmp";

FileProbe& probe() {
  static FileProbe of_tests;
  return of_tests;
}

// Makes a system call unless the probe fails it; returns its result, or -1 with errno.
template <typename Call>
auto run(std::string_view name, const std::string& path, const Call& call) -> decltype(call()) {
  if (const int code = probe() ? probe()(name, path) : 0) {
    errno = code;
    return -1;
  }
  return call();
}

// 0, or the error code.
int write_all(int descriptor, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = run("write", path, [&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

fs::path folder_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

// 0, or the error code. Some file systems cannot sync a folder and keep its names in order themselves.
int sync_folder(const fs::path& folder) {
  const std::string name = folder.string();
  const Descriptor opened(run("open", name, [&] { return ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!opened) return errno;
  int code = run("sync folder", name, [&] { return ::fsync(opened.get()); }) == 0 ? 0 : errno;
  if (code == EINVAL || code == ENOTSUP) code = 0;
  return code;
}

// A name that no other file of this process has. It keeps as much of the target's name as fits.
std::string temporary_beside(const fs::path& target) {
  static std::atomic<unsigned> counter = 0;
  const std::string ending = fmt::format(".{}-{}{}", ::getpid(), counter++, kEnding);
  const std::string start = target.filename().string().substr(0, kLongestName - ending.size());
  return (target.parent_path() / (start + ending)).string();
}

// The process id in such a temporary name; 0 for other names.
pid_t writer_of(std::string_view name) {
  if (!name.ends_with(kEnding)) return 0;
  name.remove_suffix(kEnding.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return 0;
  const char *first = name.data() + dot + 1, *last = name.data() + name.size();
  pid_t process = 0;
  unsigned number = 0;
  const auto [dash, wrong] = std::from_chars(first, last, process);
  if (wrong != std::errc() || dash == last || *dash != '-') return 0;
  const auto [end, wrong_number] = std::from_chars(dash + 1, last, number);
  return wrong_number == std::errc() && end == last ? process : 0;
}

}  // namespace

FileWriter::FileWriter(const fs::path& path) : path_(path.string()) {
  std::error_code code;
  const bool link = fs::is_symlink(path, code);
  target_ = link ? fs::weakly_canonical(path, code).string() : path_;
  if (fs::exists(target_, code) && !fs::is_regular_file(target_, code))
    throw Error("{}: exists and is not a regular file. Choose another path.", path_);
  temporary_ = temporary_beside(target_);
  file_ = Descriptor(
      run("open", target_, [&] { return ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }));
  if (!file_) throw_write_error(path_, errno);
}

FileWriter::~FileWriter() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void FileWriter::fail(int code) {
  if (code != 0) throw_write_error(path_, code);
}

void FileWriter::write(std::string_view bytes) { fail(write_all(file_.get(), target_, bytes)); }

void FileWriter::commit() {
  fail(run("sync", target_, [&] { return ::fsync(file_.get()); }) == 0 ? 0 : errno);
  const int closed = ::close(file_.release());
  fail(closed == 0 ? 0 : errno);
  fail(run("rename", target_, [&] { return ::rename(temporary_.c_str(), target_.c_str()); }) == 0 ? 0 : errno);
  temporary_.clear();
  fail(sync_folder(folder_of(target_)));
}

void write_file_atomically(const std::string& path, std::string_view content) {
  FileWriter file(path);
  file.write(content);
  file.commit();
}

AppendedFile::AppendedFile(const fs::path& path) : path_(path.string()) {
  const bool fresh = !fs::exists(path);
  file_ = Descriptor(
      run("open", path_, [&] { return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666); }));
  if (!file_) throw_write_error(path_, errno);
  if (const int code = fresh ? sync_folder(folder_of(path)) : 0) throw_write_error(path_, code);
}

void AppendedFile::add(std::string_view bytes) {
  struct stat before {};
  const bool known = ::fstat(file_.get(), &before) == 0 && S_ISREG(before.st_mode);
  const int code = write_all(file_.get(), path_, bytes);
  if (code == 0) return;
  if (known && ::ftruncate(file_.get(), before.st_size) != 0) throw_write_error(path_, errno);
  throw_write_error(path_, code);
}

void AppendedFile::sync() {
  if (run("sync", path_, [&] { return ::fsync(file_.get()); }) != 0) throw_write_error(path_, errno);
}

void rename_durably(const fs::path& from, const fs::path& to) {
  const std::string name = to.string();
  if (run("rename", name, [&] { return ::rename(from.c_str(), to.c_str()); }) != 0) throw_write_error(name, errno);
  int code = sync_folder(folder_of(to));
  if (code == 0 && folder_of(from) != folder_of(to)) code = sync_folder(folder_of(from));
  if (code != 0) throw_write_error(name, code);
}

void make_folders(const fs::path& folder) {
  std::vector<fs::path> fresh;
  std::error_code error;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, error) && at != at.root_path(); at = at.parent_path())
    fresh.push_back(at);
  fs::create_directories(folder, error);
  if (error) throw Error("{}: the folder cannot be made: {}.", folder.string(), error.message());
  for (const fs::path& one : fresh)
    if (const int code = one.has_filename() ? sync_folder(folder_of(one)) : 0)
      throw Error("{}: the folder cannot be made: {}.", folder.string(), std::strerror(code));
}

void sync_file(const fs::path& path) {
  const std::string name = path.string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  if (fs::is_directory(path, ignored)) {
    if (const int code = sync_folder(path)) throw_write_error(name, code);
    return;
  }
  const Descriptor file(run("open", name, [&] { return ::open(name.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file || run("sync", name, [&] { return ::fsync(file.get()); }) != 0) throw_write_error(name, errno);
}

void remove_left_over(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const pid_t process = writer_of(entry.path().filename().string());
    if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) ::unlink(entry.path().c_str());
  }
}

void throw_write_error(const std::string& path, int code) {
  throw Error("{}: cannot be written: {}. Check the folder, its permissions and the free space.", path,
              std::strerror(code));
}

void set_file_probe(FileProbe of_tests) { probe() = std::move(of_tests); }

}  // namespace agon
