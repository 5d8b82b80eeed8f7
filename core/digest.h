// core/digest.h - libcrypto's SHA-1 and SHA-256, the hashes by which other systems identify files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace agon {

class Digest {
 public:
  enum class Kind { sha1, sha256 };
  explicit Digest(Kind kind);
  ~Digest();
  void add(std::string_view bytes);
  std::string hex();  // lower case; call once, at the end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace agon
