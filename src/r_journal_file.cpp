// Journal files: creation, appending, reading, with checksums and locks. Uses base/ and the system's files.

#include "r_journal_file.h"

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#include <io.h>
#include <share.h>
#else
#include <unistd.h>
#endif
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/checksum.h"
#include "base/failures.h"

namespace gpb {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  const int code = errno;  // before another call changes it
  gpb::throw_runtime("Cannot " + what + " the journal " + path + ": " + std::strerror(code) + ".");
}

enum class Use { read, write };

#ifdef _WIN32
using Offset = __int64;
int open_file(const std::string& path, Use use, int flags) {
  return _sopen(path.c_str(), (use == Use::read ? _O_RDONLY : _O_RDWR) | flags | _O_BINARY,
                use == Use::read ? _SH_DENYWR : _SH_DENYRW, _S_IREAD | _S_IWRITE);
}
bool try_lock(int, Use) { return true; }  // opening the file already excludes others
bool is_held_by_another() { return errno == EACCES; }
Offset to_offset(int file, Offset at) { return _lseeki64(file, at, SEEK_SET); }
int to_disk(int file) { return _commit(file); }
int cut(int file, Offset size) { return _chsize_s(file, size) == 0 ? 0 : -1; }
using Facts = struct __stat64;  // (sizes in the other one have 32 bits)
int ask_facts(int file, Facts* facts) { return _fstat64(file, facts); }
int ask_facts(const std::string& path, Facts* facts) { return _stat64(path.c_str(), facts); }
#else
using Offset = off_t;
int open_file(const std::string& path, Use use, int flags) {
  // Does not wait for the other end of a pipe.
  return open(path.c_str(), (use == Use::read ? O_RDONLY : O_RDWR) | flags | O_NONBLOCK | O_CLOEXEC,
              0666);
}
bool try_lock(int file, Use use) {
  struct flock whole = {};
  whole.l_type = use == Use::read ? F_RDLCK : F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(file, F_SETLK, &whole) == 0;
}
bool is_held_by_another() { return errno == EACCES || errno == EAGAIN || errno == EINTR; }
Offset to_offset(int file, Offset at) { return lseek(file, at, SEEK_SET); }
int to_disk(int file) { return fsync(file); }
int cut(int file, Offset size) { return ftruncate(file, size); }
using Facts = struct stat;
int ask_facts(int file, Facts* facts) { return fstat(file, facts); }
int ask_facts(const std::string& path, Facts* facts) { return stat(path.c_str(), facts); }
#endif

// Calls f() until it returns true, as long as another process has locked the file, for at most ten seconds.
template <class F>
bool when_free(const F& f) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (f()) return true;
    if (!is_held_by_another()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A regular file, locked as long as this object exists.
class File {
 public:
  File(const std::string& path, Use use, int flags = 0) : path_(path) {
    const bool opened = when_free([&] { return (descriptor_ = open_file(path, use, flags)) >= 0; });
    if (!opened) fail("open", path_);
    try {
      if ((facts().st_mode & S_IFMT) != S_IFREG) {
        gpb::throw_runtime("Cannot use " + path_ + " as a journal: it is no regular file.");
      }
      if (!when_free([&] { return try_lock(descriptor_, use); })) fail("lock", path_);
    } catch (...) {
      close(descriptor_);
      throw;
    }
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Facts facts() const {
    Facts facts;
    if (ask_facts(descriptor_, &facts) != 0) fail("inspect", path_);
    return facts;
  }
  Offset size() const { return static_cast<Offset>(facts().st_size); }
  // Does the path still refer to this file?
  bool stands_at_its_path() const {
    Facts there;
    const Facts here = facts();
    return ask_facts(path_, &there) == 0 && there.st_ino == here.st_ino &&
           there.st_dev == here.st_dev;
  }
  bool try_shorten(Offset size) { return cut(descriptor_, size) == 0; }
  std::string read(Offset from, Offset to) const {
    std::string bytes(static_cast<std::size_t>(std::max<Offset>(to - from, 0)), '\0');
    if (to_offset(descriptor_, from) < 0) fail("read", path_);
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto count = ::read(descriptor_, &bytes[done], chunk(bytes.size() - done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("read", path_);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    bytes.resize(done);
    return bytes;
  }
  // Returns false and sets errno if writing fails.
  bool try_write(Offset at, const std::string& bytes) {
    if (to_offset(descriptor_, at) < 0) return false;
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto count = write(descriptor_, bytes.data() + done, chunk(bytes.size() - done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      done += static_cast<std::size_t>(count);
    }
    return true;
  }
  // Appends all bytes after `end`. If this fails, the remainder in the file cannot be mistaken for a line.
  void append(Offset end, const std::string& bytes) {
    if (try_write(end, bytes) && to_disk(descriptor_) == 0) return;
    const int code = errno;
    const bool undone = try_shorten(end) || try_write(end, std::string(bytes.size(), '!'));
    (void)to_disk(descriptor_);
    errno = code;
    if (undone) fail("write to", path_);
    gpb::throw_runtime("Cannot write to the journal " + path_ + ": " + std::strerror(code) +
                       ". The file cannot be restored either: open_bandit() may find this "
                       "change in it, which has not happened.");
  }

 private:
  static unsigned int chunk(std::size_t bytes) {
    return static_cast<unsigned int>(std::min<std::size_t>(bytes, 1u << 30));
  }

  std::string path_;
  int descriptor_ = -1;
};

std::string digits_of(std::uint32_t checksum) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08lx", static_cast<unsigned long>(checksum));
  return digits;
}

std::string line_of(const std::string& text, std::uint32_t checksum) {
  return digits_of(checksum) + " " + text + "\n";
}

// Lines are ASCII.
bool is_text(const std::string& line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Does the checksum at a line's beginning match the text, given the checksum of the line before?
bool is_whole(const std::string& line, std::uint32_t before) {
  if (line.size() < 9 || !is_text(line)) return false;
  return line + "\n" == line_of(line.substr(9), crc32(line.data() + 9, line.size() - 9, before));
}

#ifndef _WIN32
// A file's name is on the disk only after its directory has been synchronised.
void directory_to_disk(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = open(directory.c_str(), O_RDONLY);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  close(descriptor);
}

[[noreturn]] void fail_existing(const std::string& path) {
  gpb::throw_runtime("Cannot create the journal " + path + ": it exists.");
}

// A file with one line that is not yet the journal; it is deleted with this object.
class Draft {
 public:
  Draft(const std::string& path, const std::string& line)
      : path_(path), name_(path + ".draft-" + std::to_string(getpid())) {
    try {
      File(name_, Use::write, O_CREAT | O_TRUNC | O_NOFOLLOW).append(0, line);
    } catch (...) {
      std::remove(name_.c_str());
      throw;
    }
  }
  ~Draft() { std::remove(name_.c_str()); }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  // Fails if the file exists; if two processes try at once, one of them fails.
  void become_new_journal() const {
    if (link(name_.c_str(), path_.c_str()) == 0) return;
    if (errno == EEXIST) fail_existing(path_);
    replace_journal();  // a file system without links
  }
  void replace_journal() const {
    if (std::rename(name_.c_str(), path_.c_str()) != 0) fail("create", path_);
  }

 private:
  std::string path_, name_;
};

// Afterwards either the complete line is there, or there is no file.
void write_first(const std::string& path, const std::string& line) {
  Facts there;
  if (ask_facts(path, &there) != 0) {
    Draft(path, line).become_new_journal();
  } else {
    const File empty(path, Use::write);  // locked
    if (empty.size() > 0 || !empty.stands_at_its_path()) fail_existing(path);
    Draft(path, line).replace_journal();
  }
  directory_to_disk(path);
}
#else
void write_first(const std::string& path, const std::string& line) {
  File file(path, Use::write, O_CREAT);
  if (file.size() > 0) {
    gpb::throw_runtime("Cannot create the journal " + path + ": it exists.");
  }
  file.append(0, line);
}
#endif

[[noreturn]] void fail_foreign(const std::string& path) {
  gpb::throw_runtime("The journal " + path + " is not as this bandit left it: another one "
                     "writes to it. open_bandit() has its state, `$copy()` one without journal.");
}

// Are these bytes after the last complete line an unfinished or damaged line, possibly with its rest?
bool is_torn(const std::string& bytes, const JournalEnd& end) {
  const std::size_t first = end.open && !bytes.empty() && bytes[0] == '\n' ? 1 : 0;
  const std::size_t newline = bytes.find('\n', first);
  const bool finished = newline != std::string::npos;
  if (finished && bytes.find('\n', newline + 1) != std::string::npos) return false;
  return !is_whole(bytes.substr(first, finished ? newline - first : newline), end.checksum);
}

// Does the file end as described by `end`, except for an unfinished line?
bool ends_at(const File& file, const JournalEnd& end) {
  const auto size = static_cast<Offset>(end.size);
  if (file.size() < size) return false;
  const std::string line = file.read(size - static_cast<Offset>(end.line), size);
  if (line.size() < 9 || line.compare(0, 8, digits_of(end.checksum)) != 0) return false;
  if ((line.back() == '\n') == end.open) return false;
  return is_torn(file.read(size, file.size()), end);
}

}  // namespace

JournalEnd journal_create(const std::string& path, const std::string& text) {
  JournalEnd end;
  end.checksum = crc32(text.data(), text.size());
  const std::string line = line_of(text, end.checksum);
  end.size = end.line = static_cast<double>(line.size());
  write_first(path, line);
  return end;
}

JournalEnd journal_append(const std::string& path, const std::string& text, const JournalEnd& end) {
  File file(path, Use::write);
  if (!ends_at(file, end)) fail_foreign(path);
  const auto size = static_cast<Offset>(end.size);
  if (file.size() > size && !file.try_shorten(size)) fail("shorten", path);
  JournalEnd next;
  next.checksum = crc32(text.data(), text.size(), end.checksum);
  const std::string line = line_of(text, next.checksum), before = end.open ? "\n" : "";
  next.line = static_cast<double>(line.size());
  next.size = end.size + static_cast<double>(before.size()) + next.line;
  file.append(size, before + line);
  return next;
}

JournalContents journal_read(const std::string& path) {
  const std::string bytes = [&] {
    const File file(path, Use::read);
    return file.read(0, file.size());
  }();
  JournalContents contents;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t next = bytes.find('\n', at);
    const bool open = next == std::string::npos;
    const std::string line = bytes.substr(at, open ? next : next - at);
    if (!is_whole(line, contents.end.checksum)) {
      if (open) break;  // was never finished
      contents.damaged = contents.lines.size() + 1;
      contents.damaged_last = bytes.find('\n', next + 1) == std::string::npos;
      break;
    }
    contents.lines.push_back(line.substr(9));
    contents.end.checksum = crc32(line.data() + 9, line.size() - 9, contents.end.checksum);
    contents.end.open = open;
    contents.end.line = static_cast<double>(line.size() + (open ? 0 : 1));
    at = open ? bytes.size() : next + 1;
  }
  contents.end.size = static_cast<double>(at);
  return contents;
}

}  // namespace gpb
