// tools/search/line_reader.h - the lines of a file of any size, one at a time, in bounded memory.
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
  // Throws Error for what cannot be read.
  explicit LineReader(const std::filesystem::path& path, std::size_t longest = 64u << 20);

  bool next();                                     // to the next line; false: there are no more. Throws Error
  std::string_view line() const { return line_; }  // without its end ("\n" or "\r\n"); valid until next()
  bool too_long() const { return too_long_; }      // the line has more bytes than `longest`; line() is its start
  std::int64_t number() const { return number_; }  // of the line, from 1
  std::int64_t bytes() const { return bytes_; }    // read so far
  std::int64_t size() const { return size_; }      // of the file; 0: unknown (a pipe)

 private:
  bool fill();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::size_t longest_, begin_ = 0, end_ = 0;  // of what is not yet taken of buffer_
  std::string buffer_, line_;
  bool too_long_ = false;
  std::int64_t number_ = 0, bytes_ = 0, size_ = 0;
};

}  // namespace agon::tools
