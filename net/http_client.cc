#include "net/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <memory>
#include <mutex>

namespace agon::net {
namespace {

struct Handle {
  Handle() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    curl = curl_easy_init();
    transfers = curl_multi_init();
  }
  ~Handle() {
    curl_easy_cleanup(curl);
    curl_multi_cleanup(transfers);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  CURL* curl;
  CURLM* transfers;  // holds `curl` during a request, and the connections
};

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

// Where the reply goes, and how much of it may come.
struct Sink {
  std::string* body;
  std::size_t most;
  bool full = false;
};

std::size_t take_bytes(char* data, std::size_t, std::size_t size, void* context) {
  auto& sink = *static_cast<Sink*>(context);
  sink.full = sink.body->size() + size > sink.most;
  if (sink.full) return 0;  // ends the transfer
  sink.body->append(data, size);
  return size;
}

thread_local const std::atomic<bool>* stop_of_thread = nullptr;

// As curl_easy_perform, which checks for a stop only once a second.
CURLcode perform(const Handle& handle) {
  constexpr int kLook = 20;  // ms
  CURLMcode code = curl_multi_add_handle(handle.transfers, handle.curl);
  int running = 1;
  while (code == CURLM_OK && running > 0 && !HttpStop::is_set()) {
    code = curl_multi_perform(handle.transfers, &running);
    if (code == CURLM_OK && running > 0)
      code = curl_multi_poll(handle.transfers, nullptr, 0, stop_of_thread ? kLook : 1000, nullptr);
  }
  CURLcode result = code == CURLM_OK ? CURLE_ABORTED_BY_CALLBACK : CURLE_OUT_OF_MEMORY;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(handle.transfers, &left))
    if (message->msg == CURLMSG_DONE) result = message->data.result;
  curl_multi_remove_handle(handle.transfers, handle.curl);
  return result;
}

HeaderList headers_of(const HttpRequest& request) {
  HeaderList list;
  const auto add = [&list](const char* header) { list.reset(curl_slist_append(list.release(), header)); };
  for (const std::string& header : request.headers) add(header.c_str());
  add("Expect:");  // or curl waits a second before a large body
  return list;
}

void set_options(CURL* curl, const HttpRequest& request, curl_slist* headers, Sink& sink, char* fault) {
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);  // another host must not get our headers
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(request.seconds * 1000)));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(request.seconds * 1000)));
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "agon");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, fault);
  if (!request.body) return;
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body->c_str());
}

void read_info(CURL* curl, HttpReply& reply) {
  long status = 0;
  curl_off_t wait = 0;
  char* type = nullptr;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
  curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
  reply.status = static_cast<int>(status);
  reply.retry_after = static_cast<double>(std::max<curl_off_t>(0, wait));
  reply.content_type = type ? type : "";
}

}  // namespace

HttpReply http_request(const HttpRequest& request) {
  thread_local Handle handle;
  HttpReply reply;
  char fault[CURL_ERROR_SIZE] = {};
  Sink sink{&reply.body, request.most_bytes};
  const HeaderList headers = headers_of(request);
  curl_easy_reset(handle.curl);  // keeps the connections
  set_options(handle.curl, request, headers.get(), sink, fault);
  const CURLcode code = perform(handle);
  read_info(handle.curl, reply);
  reply.timed_out = code == CURLE_OPERATION_TIMEDOUT;
  reply.too_large = sink.full;
  if (reply.too_large)
    reply.fault = fmt::format("the reply is larger than {} bytes", request.most_bytes);
  else if (code != CURLE_OK)
    reply.fault = HttpStop::is_set() ? "it was stopped" : fault[0] ? fault : curl_easy_strerror(code);
  curl_easy_reset(handle.curl);  // the pointers above end with this call
  return reply;
}

HttpStop::HttpStop(const std::atomic<bool>& stop) { stop_of_thread = &stop; }
HttpStop::~HttpStop() { stop_of_thread = nullptr; }
bool HttpStop::is_set() { return stop_of_thread && *stop_of_thread; }

std::string url_encode(std::string_view text) {
  constexpr std::string_view kPlain = "-._~";
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

std::string public_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t mark = url.find("://"), scheme = mark == std::string_view::npos ? 0 : mark + 3;
  const std::string_view rest = url.substr(scheme), host = rest.substr(0, rest.find('/'));
  const std::size_t user = host.rfind('@');
  return fmt::format("{}{}", url.substr(0, scheme), rest.substr(user == std::string_view::npos ? 0 : user + 1));
}

}  // namespace agon::net
