#include "r_journal_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/checksum.h"

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace gpb {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  const int code = errno;  // before anything else sets it
  throw std::runtime_error("Cannot " + what + " the journal " + path + ": " + std::strerror(code) +
                           ".");
}

#ifdef _WIN32
constexpr int kBinary = O_BINARY;
int to_disk(int file) { return _commit(file); }
int cut(int file, double size) { return _chsize_s(file, static_cast<long long>(size)) == 0 ? 0 : -1; }
#else
constexpr int kBinary = 0;
int to_disk(int file) { return fsync(file); }
int cut(int file, double size) { return ftruncate(file, static_cast<off_t>(size)); }
#endif

class File {
 public:
  File(const std::string& path, int flags)
      : path_(path), descriptor_(open(path.c_str(), flags | kBinary, 0666)) {
    if (descriptor_ < 0) fail("open", path_);
  }
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  double size() const {
    struct stat facts;
    if (fstat(descriptor_, &facts) != 0) fail("look at", path_);
    return static_cast<double>(facts.st_size);
  }
  void shorten(double size) {
    if (cut(descriptor_, size) != 0) fail("shorten", path_);
  }
  void write_all(const std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto count = write(descriptor_, bytes.data() + done,
                               static_cast<unsigned int>(bytes.size() - done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("write to", path_);
      done += static_cast<std::size_t>(count);
    }
    if (to_disk(descriptor_) != 0) fail("write to", path_);
  }

 private:
  std::string path_;
  int descriptor_;
};

std::string line_of(const std::string& text, std::uint32_t checksum) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08lx", static_cast<unsigned long>(checksum));
  return std::string(digits) + " " + text + "\n";
}

// The checksum at a line's beginning and the text after it agree, given the line before.
bool is_whole(const std::string& line, std::uint32_t before) {
  if (line.size() < 9) return false;
  return line + "\n" == line_of(line.substr(9), crc32(line.data() + 9, line.size() - 9, before));
}

#ifndef _WIN32
// A file's name is on the disk only when its directory is.
void directory_to_disk(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = open(directory.c_str(), O_RDONLY);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  close(descriptor);
}
#else
void directory_to_disk(const std::string&) {}
#endif

}  // namespace

JournalEnd journal_create(const std::string& path, const std::string& text) {
  JournalEnd end;
  end.checksum = crc32(text.data(), text.size());
  const std::string line = line_of(text, end.checksum), draft = path + ".new";
  end.size = static_cast<double>(line.size());
  {
    File file(draft, O_WRONLY | O_CREAT | O_TRUNC);
    file.write_all(line);
  }
#ifdef _WIN32
  std::remove(path.c_str());  // there rename() does not replace
#endif
  if (std::rename(draft.c_str(), path.c_str()) != 0) fail("create", path);
  directory_to_disk(path);
  return end;
}

JournalEnd journal_append(const std::string& path, const std::string& text, const JournalEnd& end) {
  File file(path, O_WRONLY | O_APPEND);
  const double size = file.size();
  // What was torn may have been cut off by an attempt that failed later.
  if (size != end.size && size != end.size + end.torn) {
    throw std::runtime_error("The journal " + path + " is not as this bandit left it: another one "
                             "writes to it. resume_bandit() has its state, `$copy()` one without journal.");
  }
  if (size > end.size) file.shorten(end.size);
  JournalEnd next;
  next.checksum = crc32(text.data(), text.size(), end.checksum);
  const std::string line = line_of(text, next.checksum);
  next.size = end.size + static_cast<double>(line.size());
  try {
    file.write_all(line);
  } catch (...) {
    try {
      file.shorten(end.size);
    } catch (const std::runtime_error&) {
      // What is left is a torn line: reading drops it.
    }
    throw;
  }
  return next;
}

JournalContents journal_read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("open", path);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  JournalContents contents;
  std::size_t at = 0;
  while (true) {
    const std::size_t next = bytes.find('\n', at);
    if (next == std::string::npos) break;
    const std::string line = bytes.substr(at, next - at);
    if (!is_whole(line, contents.end.checksum)) {
      contents.damaged = contents.lines.size() + 1;
      contents.damaged_last = bytes.find('\n', next + 1) == std::string::npos;
      break;
    }
    contents.lines.push_back(line.substr(9));
    contents.end.checksum = crc32(line.data() + 9, line.size() - 9, contents.end.checksum);
    at = next + 1;
  }
  contents.end.size = static_cast<double>(at);
  contents.end.torn = static_cast<double>(bytes.size() - at);
  return contents;
}

}  // namespace gpb
