// Documents go into FTS5 in the order of the file. Then the postings are made from FTS5's own list of (word, document)
// pairs, which is sorted by word and document.
#include "tools/search/index_builder.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "core/hash.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "tools/search/bm25.h"
#include "tools/search/corpus.h"
#include "tools/search/index_schema.h"
#include "tools/search/line_reader.h"
#include "tools/search/word_tokenizer.h"

namespace agon::tools {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "lengths are stored as little-endian blobs");

constexpr std::size_t kToldLines = 5;
constexpr std::int64_t kMegabyte = 1'000'000, kProgressDocuments = 1000, kProgressWords = 1'000'000;

// The file INDEX.partial: empty at first, and locked as long as the object lives. The destructor deletes it unless it
// was moved into place.
class PartialFile {
 public:
  explicit PartialFile(const fs::path& target) : target_(target.string()), path_(target_ + ".partial") {
    while (!take()) {
    }
  }
  ~PartialFile() {
    if (!moved_) ::unlink(path_.c_str());
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  const std::string& path() const { return path_; }
  void move_into_place() {
    sync_file(path_);
    rename_durably(path_, target_);
    moved_ = true;
  }

 private:
  // Opens and locks the file. False: another process moved the opened file into place before this one had the lock.
  bool take() {
    lock_ = FileLock(Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)));
    if (!lock_) throw_write_error(path_, errno);
    if (!lock_.try_lock()) throw Error("{}: another process is writing this index. Wait until it finishes.", target_);
    struct stat open {
    }, there{};
    const bool same = ::fstat(lock_.descriptor(), &open) == 0 && ::stat(path_.c_str(), &there) == 0 &&
                      open.st_ino == there.st_ino && open.st_dev == there.st_dev;
    if (same && ::ftruncate(lock_.descriptor(), 0) != 0) throw_write_error(path_, errno);
    return same;
  }

  std::string target_, path_;
  FileLock lock_;
  bool moved_ = false;
};

SQLite::Database create_database(const std::string& path) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  // No journal is needed, since nobody reads the file of a build that ended early.
  database.exec(
      "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
      "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY");
  add_tokenizer(database.getHandle());
  database.exec(kIndexSchema);
  database.exec("INSERT INTO search(search, rank) VALUES ('hashsize', 33554432)");
  database.exec(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kIndexApplicationId, kIndexVersion));
  return database;
}

class IndexBuilder {
 public:
  IndexBuilder(const fs::path& corpus, const std::string& path, const IndexProgress& progress)
      : corpus_(corpus), database_(create_database(path)), progress_(progress) {}

  IndexReport build() {
    SQLite::Transaction transaction(database_);
    read_documents();
    check_documents();
    check_ids();
    database_.exec("INSERT INTO search(search) VALUES ('optimize')");
    write_postings();
    write_corpus();
    transaction.commit();
    return std::move(report_);
  }

 private:
  void tell(const char* what, std::int64_t done, std::int64_t total) const {
    if (progress_) progress_(what, done, total);
  }

  void read_documents() {
    SQLite::Statement insert(database_, "INSERT INTO documents VALUES (?, ?, ?, ?, ?)");
    SQLite::Statement insert_words(database_, "INSERT INTO search(rowid, title, text) VALUES (?, ?, ?)");
    LineReader lines(corpus_);
    while (lines.next()) {
      if (lines.number() == 1) refuse_other_formats(corpus_.string(), lines.line());
      if (!lines.too_long() && trim(lines.line()).empty()) continue;
      auto parsed =
          lines.too_long()
              ? std::variant<Document, std::string>(fmt::format("a line of more than {} bytes", lines.line().size()))
              : parse_document(lines.line(), lines.number());
      if (const auto* fault = std::get_if<std::string>(&parsed))
        add_broken(lines.number(), *fault);
      else
        add_document(insert, insert_words, std::get<Document>(parsed), lines.number());
      if (report_.documents % kProgressDocuments == 0) tell("MB", lines.bytes() / kMegabyte, lines.size() / kMegabyte);
    }
  }

  void add_broken(std::int64_t line, const std::string& fault) {
    if (report_.first_broken.size() < kToldLines) report_.first_broken.push_back({line, fault});
    ++report_.broken;
  }

  void add_document(SQLite::Statement& insert, SQLite::Statement& insert_words, const Document& document,
                    std::int64_t line) {
    insert.bind(1, ++report_.documents);
    insert.bindNoCopy(2, document.id);
    insert.bindNoCopy(3, document.title);
    insert.bindNoCopy(4, document.text);
    if (document.head) insert.bindNoCopy(5, *document.head);
    insert.exec();
    insert.reset();
    insert.clearBindings();
    insert_words.bind(1, report_.documents);
    insert_words.bindNoCopy(2, document.title);
    insert_words.bindNoCopy(3, document.text);
    insert_words.exec();
    insert_words.reset();
    ids_.push_back(
        {hash_text(document.id), static_cast<std::uint32_t>(report_.documents), static_cast<std::uint32_t>(line)});
    report_.corpus_hash +=
        fmt::format(" {} {} {} {}", document.id.size(), document.id, document.title.size(), document.title) +
        document.text;
    if (document.head) report_.corpus_hash += fmt::format(" {} {}", document.head->size(), *document.head);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(report_.corpus_hash.data());
    report_.corpus_hash = hash_bytes({bytes, report_.corpus_hash.size()}).hex();
  }

  void check_documents() const {
    const auto told = [this] {
      std::string lines;
      for (const BrokenLine& line : report_.first_broken)
        lines += fmt::format("\n  line {}: {}", line.line, line.fault);
      return lines;
    };
    const std::int64_t lines = report_.documents + report_.broken;
    if (report_.broken * 10 > lines)
      throw Error("{}: {} of {} lines are broken, more than a tenth. Is it a corpus, one JSON object a line?{}",
                  corpus_.string(), report_.broken, lines, told());
    if (lines == 0) throw Error("{}: no documents. Write one JSON object a line.", corpus_.string());
    if (report_.documents >= std::int64_t{1} << 32)
      throw Error("{}: {} documents are too many for one index.", corpus_.string(), report_.documents);
  }

  // Throws if two documents have the same id: an answer could not distinguish them.
  void check_ids() {
    std::sort(ids_.begin(), ids_.end(),
              [](const Id& a, const Id& b) { return a.hash != b.hash ? a.hash < b.hash : a.document < b.document; });
    SQLite::Statement find(database_, "SELECT id FROM documents WHERE number = ?");
    const auto id_of = [&find](const Id& one) {
      find.reset();
      find.bind(1, std::int64_t{one.document});
      find.executeStep();
      return find.getColumn(0).getString();
    };
    for (std::size_t i = 1; i < ids_.size(); ++i) {
      if (ids_[i].hash != ids_[i - 1].hash) continue;
      if (const std::string id = id_of(ids_[i]); id == id_of(ids_[i - 1]))
        throw Error("{}:{}: the id {} is already used in line {}. Give each document its own id.", corpus_.string(),
                    ids_[i].line, shown_text(id), ids_[i - 1].line);
    }
    std::deque<Id>().swap(ids_);
  }

  // Each row is one occurrence of a word in a document; the rows of one word and document follow each other.
  void write_postings() {
    lengths_.assign(static_cast<std::size_t>(report_.documents), 0);
    database_.exec("CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, search, instance)");
    SQLite::Statement insert(database_, "INSERT INTO words VALUES (?, ?, ?)");
    SQLite::Statement places(database_, "SELECT term, doc FROM temp.places");
    std::string word;
    std::uint32_t document = 0, count = 0;
    while (places.executeStep()) {
      const SQLite::Column term = places.getColumn(0);
      const std::string_view here(static_cast<const char*>(term.getBlob()), static_cast<std::size_t>(term.getBytes()));
      const auto number = static_cast<std::uint32_t>(places.getColumn(1).getInt64() - 1);
      if (number != document || here != word) {
        if (count > 0) postings_.add(document, count);
        count = 0;
        if (here != word) {
          write_word(insert, word);
          word = here;
        }
        document = number;
      }
      ++count;
      ++lengths_[number];
      if (++report_.words % kProgressWords == 0) tell("million words", report_.words / kProgressWords, 0);
    }
    if (count > 0) postings_.add(document, count);
    write_word(insert, word);
    places.reset();
    database_.exec("DROP TABLE temp.places");
  }

  void write_word(SQLite::Statement& insert, const std::string& word) {
    if (postings_.documents() == 0) return;
    insert.bindNoCopy(1, word);
    insert.bind(2, static_cast<std::int64_t>(postings_.documents()));
    insert.bindNoCopy(3, postings_.bytes().data(), static_cast<int>(postings_.bytes().size()));
    insert.exec();
    insert.reset();
    postings_.clear();
    ++report_.vocabulary;
  }

  void write_corpus() {
    SQLite::Statement insert(database_, "INSERT INTO corpus VALUES (?, ?, ?, ?, ?)");
    insert.bind(1, report_.corpus_hash);
    insert.bind(2, report_.documents);
    insert.bind(3, report_.words);
    insert.bind(4, report_.broken);
    insert.bindNoCopy(5, lengths_.data(), static_cast<int>(lengths_.size() * sizeof(lengths_[0])));
    insert.exec();
  }

  struct Id {
    std::uint64_t hash;
    std::uint32_t document, line;
  };

  const fs::path corpus_;
  SQLite::Database database_;
  const IndexProgress progress_;
  IndexReport report_;
  PostingsWriter postings_;
  std::vector<std::uint32_t> lengths_;
  std::deque<Id> ids_;  // one per document, until they are checked
};

// Only an index (of any version) and an empty file are overwritten, never another file. SQLite keeps the application id
// of a database at byte 68, the highest byte first.
void require_index_or_nothing(const fs::path& file) {
  constexpr std::string_view kMagic = "SQLite format 3";
  constexpr std::size_t kPlace = 68;
  std::ifstream stream(file, std::ios::binary);
  std::string head(kPlace + 4, '\0');
  stream.read(head.data(), std::ssize(head));
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) id = id << 8 | static_cast<std::uint8_t>(head[kPlace + i]);
  if (stream.gcount() > 0 && !(head.starts_with(kMagic) && id == kIndexApplicationId))
    throw Error("{}: exists and is not an index of agon. Choose another path with --out, or remove it.", file.string());
}

}  // namespace

IndexReport build_search_index(const fs::path& corpus, const fs::path& index, const IndexProgress& progress) {
  std::error_code code;
  if (fs::exists(index, code) && !fs::is_regular_file(index, code))
    throw Error("{}: exists and is not a regular file. Choose another path with --out.", index.string());
  if (fs::equivalent(corpus, index, code))
    throw Error("{}: is the corpus itself. Choose another path.", index.string());
  require_index_or_nothing(index);
  PartialFile partial(index);
  try {
    IndexReport report = IndexBuilder(corpus, partial.path(), progress).build();
    partial.move_into_place();
    return report;
  } catch (const SQLite::Exception& exception) {
    throw Error("{}: cannot be written: {}. Is the disk full?", partial.path(), exception.what());
  }
}

}  // namespace agon::tools
