// tools/search/line_reader.h - reads the lines of a file of any size, one at a time, in bounded memory.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace agon::tools {

class LineReader {
 public:
  // longest: bytes of a line that are kept. Throws Error if the file cannot be read.
  explicit LineReader(const std::filesystem::path& path, std::size_t longest = 64u << 20);

  bool next();                                     // goes to the next line; false: no more lines. Throws Error
  std::string_view line() const { return line_; }  // without its end ("\n" or "\r\n"); valid until next()
  bool too_long() const { return too_long_; }      // the line has more than `longest` bytes; line() is its start
  std::int64_t number() const { return number_; }  // number of the line, from 1
  std::int64_t bytes() const { return bytes_; }    // bytes read so far
  std::int64_t size() const { return size_; }      // size of the file; 0: unknown (a pipe)

 private:
  bool fill();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::size_t longest_, begin_ = 0, end_ = 0;  // [begin_, end_): unread part of buffer_
  std::string buffer_, line_;
  bool too_long_ = false;
  std::int64_t number_ = 0, bytes_ = 0, size_ = 0;
};

}  // namespace agon::tools
