#include "core/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "core/error.h"

namespace agon {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Digest::Digest(Kind kind) : state_(std::make_unique<State>()) {
  if (EVP_DigestInit_ex(state_->context, kind == Kind::sha1 ? EVP_sha1() : EVP_sha256(), nullptr) != 1)
    throw Error("digest: libcrypto does not offer it on this machine.");
}
Digest::~Digest() = default;

void Digest::add(std::string_view bytes) { EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()); }

std::string Digest::hex() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, bytes, &size);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

}  // namespace agon
