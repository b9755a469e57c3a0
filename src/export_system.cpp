// System functions that R lacks: local sockets, a server's connections, random bytes, journal files, values as text,
// checksums, serialised objects. Uses base/ and the adapters r_*.

#ifdef _WIN32
#define _CRT_RAND_S  // rand_s(), the system's generator
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#include <io.h>
#include <share.h>
#else
#include <arpa/inet.h>
#include <signal.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#endif
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <Rcpp/Lightest>

#include "base/checksum.h"
#include "base/failures.h"
#include "base/json.h"
#include "r_journal_file.h"
#include "r_lists.h"
#include "r_serialised.h"

// ---- the system ---------------------------------------------------------------------------------

namespace {

#ifdef _WIN32
using Socket = SOCKET;
constexpr Socket kNone = INVALID_SOCKET;
using Size = int;

void start_sockets() {
  WSADATA about;
  if (WSAStartup(MAKEWORD(2, 2), &about) != 0) gpb::throw_runtime("no sockets here");
}

void close_socket(Socket socket) { closesocket(socket); }

void keep_from_children(Socket socket) {
  SetHandleInformation(reinterpret_cast<HANDLE>(socket), HANDLE_FLAG_INHERIT, 0);
}
#else
using Socket = int;
constexpr Socket kNone = -1;
using Size = socklen_t;

void start_sockets() {}

void close_socket(Socket socket) { close(socket); }

void keep_from_children(Socket socket) { fcntl(socket, F_SETFD, FD_CLOEXEC); }
#endif

// Listens on 127.0.0.1, on a port that the system chooses. A client that connects waits, and is notified when this
// socket is closed.
class Listener {
 public:
  Listener() {
    start_sockets();
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (socket_ == kNone) gpb::throw_runtime("no socket could be made");
    keep_from_children(socket_);
    sockaddr_in address;
    std::memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Size size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, any, size) != 0 || listen(socket_, 4) != 0 ||
        getsockname(socket_, any, &size) != 0) {
      close();
      gpb::throw_runtime("no port is free on 127.0.0.1");
    }
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }

  void close() {
    if (socket_ != kNone) close_socket(socket_);
    socket_ = kNone;
  }

 private:
  Socket socket_ = kNone;
  int port_ = 0;
};

#ifndef _WIN32

constexpr int kMostFiles = 65536;

int most_files() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > kMostFiles) return kMostFiles;
  return static_cast<int>(limit.rlim_cur);
}

// "address port" of one end of a socket; empty if there is none.
std::string end_of(int file, int (*ask)(int, sockaddr*, socklen_t*), int* port) {
  sockaddr_storage address;
  socklen_t size = sizeof(address);
  if (ask(file, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  char words[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(&address);
    inet_ntop(AF_INET, &four->sin_addr, words, sizeof(words));
    *port = ntohs(four->sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(&address);
    inet_ntop(AF_INET6, &six->sin6_addr, words, sizeof(words));
    *port = ntohs(six->sin6_port);
  } else {
    return "";
  }
  return std::string(words) + " " + std::to_string(*port);
}

// Calls f(file, peer) for each socket of one of our ports, up to the one of the peer `last`. `peer` is empty for the
// socket that listens. The system assigns
// the lowest free file numbers, so the search ends after a thousand unused numbers in a row.
template <class F>
void each_socket(int port, const F& f, const std::string& last = "") {
  const int most = most_files();
  for (int file = 0, absent = 0; file < most && absent < 1000; ++file) {
    int here = 0;
    int there = 0;
    errno = 0;
    const bool ours = !end_of(file, getsockname, &here).empty() && here == port;
    absent = errno == EBADF ? absent + 1 : 0;
    if (!ours) continue;
    const std::string peer = end_of(file, getpeername, &there);
    f(file, peer);
    if (!last.empty() && peer == last) return;
  }
}

template <class F>
void each_connection(int port, const F& f) {
  each_socket(port, [&](int file, const std::string& peer) {
    if (!peer.empty()) f(file, peer);
  });
}

// Sends without waiting, and without the signal for a closed connection.
bool say(int file, const std::string& words) {
  int flags = MSG_DONTWAIT;
#ifdef MSG_NOSIGNAL
  flags |= MSG_NOSIGNAL;
#endif
#ifdef SO_NOSIGPIPE
  const int on = 1;
  setsockopt(file, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#endif
  return send(file, words.data(), words.size(), flags) >= 0;
}

#endif

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_listen_here() {
  Rcpp::XPtr<Listener> listener(new Listener(), true);
  return gpb::named_list("listener", listener, "port", listener->port());
}

// [[Rcpp::export(rng = false)]]
void cpp_close_listener(SEXP listener) { Rcpp::XPtr<Listener>(listener)->close(); }

// The identities of files on this machine; "" for those that do not exist (on Windows for all).
// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_file_ids(const std::vector<std::string>& paths) {
  std::vector<std::string> out(paths.size());
#ifndef _WIN32
  for (std::size_t k = 0; k < paths.size(); ++k) {
    struct stat about;
    if (stat(paths[k].c_str(), &about) == 0) {
      out[k] = std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino);
    }
  }
#endif
  return out;
}

// Makes this process the leader of a group, to which the programs that it starts belong.
// [[Rcpp::export(rng = false)]]
void cpp_lead_group() {
#ifndef _WIN32
  setpgid(0, 0);
#endif
}

// Ends all processes of a group. FALSE if there is none (on Windows always).
// [[Rcpp::export(rng = false)]]
bool cpp_end_group(int leader) {
#ifdef _WIN32
  (void)leader;
  return false;
#else
  return leader > 1 && kill(-leader, SIGKILL) == 0;
#endif
}

// The peers connected to a port of this process, "address port" each. (Empty on Windows, where they cannot be listed.)
// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_connections(int port) {
  std::vector<std::string> out;
#ifdef _WIN32
  (void)port;
#else
  each_connection(port, [&](int, const std::string& peer) { out.push_back(peer); });
#endif
  return out;
}

// Is this peer connected to a port of this process? (On Windows always.)
// [[Rcpp::export(rng = false)]]
bool cpp_is_connected(int port, const std::string& peer) {
#ifdef _WIN32
  return true;
#else
  bool found = false;
  each_socket(port, [&](int, const std::string& other) { found = found || other == peer; }, peer);
  return found;
#endif
}

// Ends some of these connections after a last message. The server's thread, which owns the socket, then reads the end
// of the stream and closes it. (If a socket was meanwhile closed and reused for a new client, that client has to
// connect again.)
// [[Rcpp::export(rng = false)]]
int cpp_end_connections(int port, const std::vector<std::string>& peers,
                        const std::string& words) {
  int count = 0;
#ifdef _WIN32
  (void)port, (void)peers, (void)words;
#else
  if (peers.empty()) return count;
  each_connection(port, [&](int file, const std::string& peer) {
    if (std::find(peers.begin(), peers.end(), peer) == peers.end()) return;
    const bool said = words.empty() || say(file, words);
    if (shutdown(file, SHUT_RDWR) == 0 && said) ++count;
  });
#endif
  return count;
}

// Lets the connections that a port of this process will accept send each message at once, without waiting for the
// acknowledgement of the one before: they inherit this from the listening socket. Returns false if that is impossible.
// [[Rcpp::export(rng = false)]]
bool cpp_send_at_once(int port) {
  bool done = false;
#ifdef _WIN32
  (void)port;
#else
  each_socket(port, [&](int file, const std::string& peer) {
    const int on = 1;
    if (peer.empty() && setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0) done = true;
  });
#endif
  return done;
}

// The largest number of files and connections that this process may have open.
// [[Rcpp::export(rng = false)]]
int cpp_most_files() {
#ifdef _WIN32
  return 8192;
#else
  return most_files();
#endif
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector cpp_random_bytes(int count) {
  Rcpp::RawVector out(count);
#ifdef _WIN32
  for (unsigned char& byte : out) {
    unsigned int value = 0;
    if (rand_s(&value) != 0) gpb::throw_runtime("the system gives no random numbers");
    byte = static_cast<unsigned char>(value);
  }
#else
  std::FILE* const source = std::fopen("/dev/urandom", "rb");
  if (source != nullptr) std::setvbuf(source, nullptr, _IONBF, 0);  // reads these bytes only
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t got = source == nullptr ? 0 : std::fread(RAW(out), 1, wanted, source);
  if (source != nullptr) std::fclose(source);
  if (got != wanted) gpb::throw_runtime("/dev/urandom gives no random numbers");
#endif
  return out;
}

// ---- files --------------------------------------------------------------------------------------

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

// ---- journals -----------------------------------------------------------------------------------
// The journal for R, where its end is a list.

namespace {

Rcpp::List list_of(const gpb::JournalEnd& end) {
  return gpb::named_list("size", end.size, "line", end.line, "open", end.open,
                         "checksum", static_cast<double>(end.checksum));
}

gpb::JournalEnd end_of(const Rcpp::List& list) {
  gpb::JournalEnd end;
  end.size = Rcpp::as<double>(gpb::required(list, "size"));
  end.line = Rcpp::as<double>(gpb::required(list, "line"));
  end.open = Rcpp::as<bool>(gpb::required(list, "open"));
  end.checksum = static_cast<std::uint32_t>(Rcpp::as<double>(gpb::required(list, "checksum")));
  return end;
}

constexpr char kDigits[] = "0123456789abcdef";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  gpb::throw_invalid("not a hexadecimal digit");
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_journal_create(const std::string& path, const std::string& text) {
  return list_of(gpb::journal_create(path, text));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_journal_append(const std::string& path, const std::string& text,
                              const Rcpp::List& end) {
  return list_of(gpb::journal_append(path, text, end_of(end)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_journal_read(const std::string& path) {
  const gpb::JournalContents contents = gpb::journal_read(path);
  return gpb::named_list("lines", contents.lines, "end", list_of(contents.end),
                         "damaged", static_cast<double>(contents.damaged), "damaged_last", contents.damaged_last);
}

// [[Rcpp::export(rng = false)]]
std::string cpp_hex_from_raw(const Rcpp::RawVector& bytes) {
  std::string out;
  out.reserve(2 * static_cast<std::size_t>(bytes.size()));
  for (const unsigned char byte : bytes) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector cpp_raw_from_hex(const std::string& text) {
  Rcpp::RawVector out(static_cast<R_xlen_t>(text.size() / 2));
  for (R_xlen_t k = 0; k < out.size(); ++k) {
    const auto at = static_cast<std::size_t>(2 * k);
    out[k] = static_cast<unsigned char>(16 * digit(text[at]) + digit(text[at + 1]));
  }
  return out;
}

// ---- values as text -----------------------------------------------------------------------------
// JSON for R: the notation of values in journals and stores, see R/utils-text.R.

namespace {

using gpb::Json;

SEXP character_of(const std::string& utf8) {
  return Rf_mkCharLenCE(utf8.data(), static_cast<int>(utf8.size()), CE_UTF8);
}

Rcpp::CharacterVector characters_of(const std::vector<std::string>& texts) {
  Rcpp::CharacterVector out(static_cast<R_xlen_t>(texts.size()));
  for (std::size_t k = 0; k < texts.size(); ++k) {
    SET_STRING_ELT(out, static_cast<R_xlen_t>(k), character_of(texts[k]));
  }
  return out;
}

template <typename Values>
Rcpp::List singles(const Values& values) {
  Rcpp::List out(values.size());
  for (R_xlen_t k = 0; k < values.size(); ++k) {
    Values one(1);
    one[0] = values[k];
    out[k] = one;
  }
  return out;
}

// `vectors`: arrays of numbers or of strings become vectors.
SEXP r_value(const Json& found, bool vectors) {
  switch (found.kind) {
    case Json::Kind::null: return R_NilValue;
    case Json::Kind::boolean: return Rf_ScalarLogical(found.yes ? 1 : 0);
    case Json::Kind::number: return Rf_ScalarReal(found.number);
    case Json::Kind::string: return characters_of({found.text});
    case Json::Kind::numbers: {
      const Rcpp::NumericVector numbers(found.numbers.begin(), found.numbers.end());
      return vectors ? SEXP(numbers) : SEXP(singles(numbers));
    }
    case Json::Kind::strings: {
      const Rcpp::CharacterVector strings = characters_of(found.strings);
      return vectors ? SEXP(strings) : SEXP(singles(strings));
    }
    default: {
      Rcpp::List out(static_cast<R_xlen_t>(found.items.size()));
      for (std::size_t k = 0; k < found.items.size(); ++k) {
        out[static_cast<R_xlen_t>(k)] = r_value(found.items[k], vectors);
      }
      if (found.kind == Json::Kind::object) out.names() = characters_of(found.names);
      return out;
    }
  }
}

std::uint64_t bits_of(double number) {
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

constexpr char kOtherNaN[] = "NaN:";

// NA and NaN in R's notation, and NaNs with other bits.
std::string words_of(double number) {
  if (bits_of(number) == bits_of(NA_REAL)) return "NA";
  if (bits_of(number) == bits_of(R_NaN)) return "NaN";
  if (!std::isnan(number)) return gpb::words_of_number(number);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(bits_of(number)));
  return kOtherNaN + std::string(digits);
}

double number_of(const std::string& words) {
  if (words == "NA") return NA_REAL;
  if (words == "NaN") return R_NaN;
  double number = 0;
  const std::size_t digits = sizeof kOtherNaN - 1;
  if (words.compare(0, digits, kOtherNaN) == 0 && words.size() == digits + 16 &&
      words.find_first_not_of("0123456789abcdef", digits) == std::string::npos) {
    const std::uint64_t bits = std::strtoull(words.c_str() + digits, nullptr, 16);
    std::memcpy(&number, &bits, sizeof number);
    if (std::isnan(number)) return number;
  } else if (gpb::read_number(words, number)) {
    return number;
  }
  gpb::throw_invalid("a text is not a number");
}

// A string that is not UTF-8, marked as such.
std::string raw_string(SEXP x) {
  std::string out = "{\"bytes\":\"";
  for (const char* byte = CHAR(x); *byte != '\0'; ++byte) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned int>(static_cast<unsigned char>(*byte)));
    out += digits;
  }
  return out + (Rf_getCharCE(x) == CE_BYTES ? "\",\"encoding\":\"bytes\"}" : "\",\"encoding\":\"unknown\"}");
}

std::string string_words(SEXP x) {
  if (x == NA_STRING) return "null";
  const cetype_t encoding = Rf_getCharCE(x);
  if (encoding == CE_BYTES) return raw_string(x);
  std::string utf8 = CHAR(x);
  const bool ascii = std::all_of(utf8.begin(), utf8.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!ascii && encoding != CE_UTF8) {
    utf8 = Rf_reEnc(CHAR(x), encoding, CE_UTF8, 1);
    // A string in the native encoding may be invalid.
    if (encoding == CE_NATIVE && std::strcmp(Rf_reEnc(utf8.c_str(), CE_UTF8, CE_NATIVE, 1), CHAR(x)) != 0) {
      return raw_string(x);
    }
  }
  return gpb::is_utf8(utf8) ? gpb::json_string(utf8) : raw_string(x);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_json_read(const std::string& text, bool vectors) {
  const Rcpp::RObject found = r_value(gpb::read_json(text), vectors);
  return found;
}

// An array of these numbers: JSON numbers if fifteen digits are exact for all, otherwise strings.
// [[Rcpp::export(rng = false)]]
std::string cpp_json_numbers(const Rcpp::NumericVector& x) {
  const bool plain = std::all_of(x.begin(), x.end(), gpb::has_fifteen_digits);
  const std::string quote = plain ? "" : "\"";
  std::string out = "[";
  for (const double number : x) {
    if (out.size() > 1) out += ",";
    out += quote + words_of(number) + quote;
  }
  return out + "]";
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_numbers_from_words(const Rcpp::CharacterVector& words) {
  Rcpp::NumericVector out(words.size());
  for (R_xlen_t k = 0; k < words.size(); ++k) out[k] = number_of(CHAR(STRING_ELT(words, k)));
  return out;
}

// Each string in JSON notation, NA as null.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_json_strings(const Rcpp::CharacterVector& x) {
  Rcpp::CharacterVector out(x.size());
  for (R_xlen_t k = 0; k < x.size(); ++k) out[k] = string_words(STRING_ELT(x, k));
  return out;
}

namespace {

// A quoted JSON string in UTF-8; spaces replace control characters.
void append_quoted(std::string& out, const char* utf8) {
  out += '"';
  for (; *utf8 != '\0'; ++utf8) {
    const auto byte = static_cast<unsigned char>(*utf8);
    if (byte == '"' || byte == '\\') out += '\\';
    out += byte < 0x20 || byte == 0x7f ? ' ' : *utf8;
  }
  out += '"';
}

// One element of a vector: a number with fifteen digits, a logical value or a string; null if it is none of them.
void append_scalar(std::string& out, SEXP x, R_xlen_t k) {
  char digits[32];
  if (TYPEOF(x) == STRSXP && STRING_ELT(x, k) != NA_STRING) {
    append_quoted(out, Rf_translateCharUTF8(STRING_ELT(x, k)));
  } else if (TYPEOF(x) == REALSXP && std::isfinite(REAL(x)[k])) {
    std::snprintf(digits, sizeof digits, "%.15g", REAL(x)[k]);
    out += digits;
  } else if (TYPEOF(x) == INTSXP && INTEGER(x)[k] != NA_INTEGER) {
    out += std::to_string(INTEGER(x)[k]);
  } else if (TYPEOF(x) == LGLSXP && LOGICAL(x)[k] != NA_LOGICAL) {
    out += LOGICAL(x)[k] != 0 ? "true" : "false";
  } else {
    out += "null";
  }
}

SEXP utf8_of(const std::string& text) { return Rf_mkCharLenCE(text.data(), static_cast<int>(text.size()), CE_UTF8); }

}  // namespace

// Each element of a vector as JSON, for people and other programs.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_json_scalars(const Rcpp::RObject& x) {
  const Rcpp::RObject plain = Rf_isFactor(x) ? Rf_asCharacterFactor(x) : static_cast<SEXP>(x);
  Rcpp::CharacterVector out(Rf_xlength(plain));
  for (R_xlen_t k = 0; k < out.size(); ++k) {
    std::string text;
    append_scalar(text, plain, k);
    SET_STRING_ELT(out, k, utf8_of(text));
  }
  return out;
}

// One JSON object for each row of a named list of columns.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_json_rows(const Rcpp::List& columns) {
  Rcpp::List plain(columns.size());
  std::vector<std::string> fields;
  const Rcpp::CharacterVector names(Rf_getAttrib(columns, R_NamesSymbol));
  const R_xlen_t rows = columns.size() > 0 ? Rf_xlength(columns[0]) : 0;
  for (R_xlen_t c = 0; c < columns.size(); ++c) {
    const SEXP column = VECTOR_ELT(columns, c);
    plain[c] = Rf_isFactor(column) ? Rf_asCharacterFactor(column) : column;
    if (Rf_xlength(column) != rows) throw std::invalid_argument("columns differ in length");
    fields.emplace_back(c > 0 ? "," : "{");
    append_quoted(fields.back(), Rf_translateCharUTF8(STRING_ELT(names, c)));
    fields.back() += ':';
  }
  Rcpp::CharacterVector out(rows);
  for (R_xlen_t k = 0; k < rows; ++k) {
    std::string text;
    for (R_xlen_t c = 0; c < plain.size(); ++c) {
      text += fields[static_cast<std::size_t>(c)];
      append_scalar(text, VECTOR_ELT(plain, c), k);
    }
    SET_STRING_ELT(out, k, utf8_of(text + "}"));
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
std::string cpp_invalid_in_function(const Rcpp::RawVector& bytes) {
  return gpb::invalid_in_function(RAW(bytes), static_cast<std::size_t>(bytes.size()));
}

// ---- rows of journals and stores ----------------------------------------------------------------

namespace {

// A number as R's sprintf("%d") and sprintf("%a") write it.
void append_exact(std::string& out, SEXP x, R_xlen_t k) {
  char digits[40];
  if (TYPEOF(x) == INTSXP) {
    out += INTEGER(x)[k] == NA_INTEGER ? "NA" : std::to_string(INTEGER(x)[k]);
    return;
  }
  const double value = REAL(x)[k];
  if (R_IsNA(value)) out += "NA";
  else if (std::isnan(value)) out += "NaN";
  else if (std::isinf(value)) out += value > 0.0 ? "Inf" : "-Inf";
  else out.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%a", value)));
}

// Fields of rows, as text or exactly, separated by bars. (SQLite has no negative zero.)
class RowFields {
 public:
  explicit RowFields(const Rcpp::List& columns) : columns_(columns) {}
  void text(std::string& out, const char* name, R_xlen_t k, const char* missing = "NA") const {
    const SEXP field = STRING_ELT(column(name, STRSXP), k);
    out += field == NA_STRING ? missing : Rf_translateCharUTF8(field);
  }
  void number(std::string& out, const char* name, R_xlen_t k) const {
    const SEXP field = column(name, REALSXP);
    if (REAL(field)[k] == 0.0) out += "0x0p+0";
    else append_exact(out, field, k);
  }
  bool is(const char* name, R_xlen_t k, const char* word) const {
    return std::strcmp(CHAR(STRING_ELT(column(name, STRSXP), k)), word) == 0;
  }

 private:
  // (Each column is converted once.)
  SEXP column(const char* name, SEXPTYPE type) const {
    for (const auto& one : found_) {
      if (std::strcmp(one.first, name) == 0) return one.second;
    }
    found_.emplace_back(name, Rcpp::RObject(Rf_coerceVector(gpb::required(columns_, name), type)));
    return found_.back().second;
  }

  Rcpp::List columns_;
  mutable std::vector<std::pair<const char*, Rcpp::RObject>> found_;
};

}  // namespace

// The numbers of each row of some columns, exactly, separated by spaces.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_number_rows(const Rcpp::List& columns, int count) {
  std::vector<Rcpp::RObject> numbers;
  for (R_xlen_t c = 0; c < columns.size(); ++c) {
    const SEXP column = VECTOR_ELT(columns, c);
    numbers.emplace_back(TYPEOF(column) == INTSXP ? column : Rf_coerceVector(column, REALSXP));
    if (Rf_xlength(column) != count) throw std::invalid_argument("columns differ in length");
  }
  Rcpp::CharacterVector out(count);
  for (R_xlen_t k = 0; k < count; ++k) {
    std::string text;
    for (const Rcpp::RObject& one : numbers) {
      if (!text.empty()) text += ' ';
      append_exact(text, one, k);
    }
    SET_STRING_ELT(out, k, Rf_mkChar(text.c_str()));
  }
  return out;
}

// The text of a store's checksums: each event, with its query if the event makes one. `queries`, `events`: columns of
// rows in the database.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector cpp_row_texts(const Rcpp::List& queries, const Rcpp::List& events) {
  const RowFields asked(queries), happened(events);
  Rcpp::CharacterVector out(Rf_xlength(gpb::required(events, "number")));
  R_xlen_t query = 0;
  for (R_xlen_t k = 0; k < out.size(); ++k) {
    std::string text;
    for (const char* name : {"number", "kind", "query"}) {
      happened.text(text, name, k);
      text += '|';
    }
    for (const char* name : {"reward", "time"}) {
      happened.number(text, name, k);
      text += '|';
    }
    happened.text(text, "numbers", k);
    text += '|';
    happened.text(text, "parameters", k, "");
    if (happened.is("kind", k, "query") || happened.is("kind", k, "given")) {
      for (const char* name : {"arm", "context", "action", "segment"}) asked.text(text += '|', name, query);
      for (const char* name : {"mean", "sd", "width"}) asked.number(text += '|', name, query);
      asked.text(text += '|', "numbers", query);
      ++query;
    }
    SET_STRING_ELT(out, k, Rf_mkCharCE(text.c_str(), CE_UTF8));
  }
  return out;
}

// ---- checksums of stores ------------------------------------------------------------------------
// Checksums of a store's rows, each computed from the one of the row before.

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_checksums(const Rcpp::CharacterVector& rows, double before) {
  Rcpp::NumericVector out(rows.size());
  auto checksum = static_cast<std::uint32_t>(before);
  for (R_xlen_t k = 0; k < rows.size(); ++k) {
    const SEXP row = rows[k];
    checksum = gpb::crc32(CHAR(row), static_cast<std::size_t>(LENGTH(row)), checksum);
    out[k] = static_cast<double>(checksum);
  }
  return out;
}

// ---- R's serialised format ----------------------------------------------------------------------

// The format is R's own (R Internals, "Serialization Formats"): a tree of items with big-endian numbers. Each item
// begins with flags whose low byte is the type.

namespace gpb {

namespace {

// Numbers of R's types, and of types that exist in the format only.
enum Type : unsigned {
  kSymbol = 1, kPairs = 2, kClosure = 3, kEnvironment = 4, kPromise = 5, kCall = 6, kSpecial = 7, kBuiltin = 8,
  kCharacters = 9, kLogicals = 10, kIntegers = 13, kReals = 14, kComplexes = 15, kStrings = 16, kDots = 17, kList = 19,
  kExpressions = 20, kBytecode = 21, kPointer = 22, kWeakReference = 23, kRaw = 24, kS4 = 25,
  kCompact = 238, kCallPairs = 239, kCallWithAttributes = 240, kBaseEnvironment = 241, kEmptyEnvironment = 242,
  kRepeated = 243, kRepeatable = 244, kPackage = 248, kNamespace = 249, kBaseNamespace = 250, kMissing = 251,
  kUnbound = 252, kGlobal = 253, kNull = 254, kReference = 255
};

// The location of an item. Only a value bound in a frame may be a promise, as for arguments.
enum class Location { function, environment, frame, frames, binding, name, inside };

struct Invalid {
  std::string words;
};

[[noreturn]] void invalid(const std::string& words) { throw Invalid{words}; }

class Stream {
 public:
  Stream(const unsigned char* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}

  void whole() {
    need(2);
    if (at_[0] != 'X' || at_[1] != '\n') invalid("bytes of another form");
    at_ += 2;
    if (number() != 2) invalid("a serialisation of another version");
    number();
    number();
    item(Location::function);
    if (at_ != end_) invalid("bytes behind the end");
  }

 private:
  enum class Known { symbol, environment, other };

  void need(std::size_t bytes) const {
    if (static_cast<std::size_t>(end_ - at_) < bytes) invalid("an end before the end");
  }
  void skip(std::size_t count, std::size_t width) {
    if (count > static_cast<std::size_t>(end_ - at_) / width) invalid("an end before the end");
    at_ += count * width;
  }
  std::uint32_t number() {
    need(4);
    std::uint32_t found = 0;
    for (int k = 0; k < 4; ++k) found = found << 8 | *at_++;
    return found;
  }
  // Reads the number of items that take at least `width` bytes each.
  std::size_t length(std::size_t width) {
    const std::uint32_t found = number();
    if (found > 0x7FFFFFFFu || found > static_cast<std::size_t>(end_ - at_) / width) invalid("a length that is none");
    return found;
  }

  static unsigned type_of(std::uint32_t flags) { return flags & 0xFFu; }
  static bool has_attributes(std::uint32_t flags) { return (flags & (1u << 9)) != 0; }
  static bool has_tag(std::uint32_t flags) { return (flags & (1u << 10)) != 0; }

  void item(Location location) { item(number(), location); }

  void item(std::uint32_t flags, Location location) {
    if (++depth_ > 5000) invalid("a nest without end");
    const unsigned type = type_of(flags);
    check_stored_point(type, location);
    switch (type) {
      case kReference: reference(flags, location); break;
      case kSymbol:
        item(Location::name);
        known_.push_back(Known::symbol);
        break;
      case kNamespace:
      case kPackage: named_environment(); break;
      case kEnvironment: environment(); break;
      case kPairs: pairs(flags, location); break;
      case kCall: pairs(flags, Location::inside); break;
      case kDots: pairs(flags, Location::frame); break;
      case kClosure:
      case kPromise: function_or_promise(flags); break;
      case kPointer:
        known_.push_back(Known::other);
        item(Location::inside);
        item(Location::inside);
        attributes(flags);
        break;
      case kWeakReference:
        known_.push_back(Known::other);
        attributes(flags);
        break;
      case kBytecode: {
        const std::size_t outer = repeatable_;
        repeatable_ = length(4);
        bytecode();
        repeatable_ = outer;
        attributes(flags);
        break;
      }
      default: vector(type, flags, location);
    }
    --depth_;
  }

  static void check_stored_point(unsigned type, Location location) {
    if (type == kCompact) invalid("a compact vector (ALTREP)");
    if (type == kPromise && location != Location::binding) invalid("a promise");
    if (type == kDots && location != Location::binding) invalid("arguments (...)");
    switch (location) {
      case Location::function:
        if (type == kEnvironment || is_named_environment(type)) invalid("an environment");
        if (type != kClosure && type != kSpecial && type != kBuiltin && type != kCall) invalid("no function");
        return;
      case Location::environment:
        if (type != kEnvironment && type != kReference && type != kNull && !is_named_environment(type)) {
          invalid("a function whose environment is none");
        }
        return;
      case Location::frame:
        if (type != kPairs && type != kNull) invalid("a frame that is none");
        return;
      case Location::frames:
        if (type != kList && type != kNull) invalid("a frame that is none");
        return;
      case Location::name:
        if (type != kCharacters) invalid("a name that is none");
        return;
      case Location::binding:
      case Location::inside: return;
    }
  }

  static bool is_named_environment(unsigned type) {
    return type == kNamespace || type == kPackage || type == kGlobal || type == kBaseEnvironment ||
           type == kBaseNamespace || type == kEmptyEnvironment;
  }

  void reference(std::uint32_t flags, Location location) {
    const std::size_t which = flags >> 8 != 0 ? flags >> 8 : number();
    if (which == 0 || which > known_.size()) invalid("a reference to nothing");
    if (location == Location::environment && known_[which - 1] != Known::environment) {
      invalid("a function whose environment is none");
    }
  }

  void named_environment() {
    if (number() != 0) invalid("names that have names");
    items(Location::name);
    known_.push_back(Known::environment);
  }

  void environment() {
    number();  // is it locked?
    known_.push_back(Known::environment);
    item(Location::environment);
    item(Location::frame);
    item(Location::frames);
    item(Location::inside);
  }

  void attributes(std::uint32_t flags) {
    if (has_attributes(flags)) item(Location::inside);
  }

  void function_or_promise(std::uint32_t flags) {
    attributes(flags);
    if (has_tag(flags)) item(Location::environment);
    item(Location::inside);
    item(Location::inside);
  }

  // Reads pairs to the end of their chain.
  void pairs(std::uint32_t flags, Location location) {
    while (true) {
      attributes(flags);
      if (has_tag(flags)) item(Location::inside);
      item(location == Location::frame ? Location::binding : Location::inside);
      flags = number();
      if (type_of(flags) != kPairs) break;
    }
    if (type_of(flags) != kNull && location == Location::frame) invalid("a frame that is none");
    if (type_of(flags) == kPromise) invalid("a promise");
    item(flags, Location::inside);
  }

  void vector(unsigned type, std::uint32_t flags, Location location) {
    switch (type) {
      case kSpecial:
      case kBuiltin: skip(length(1), 1); return;
      case kCharacters: {
        const std::uint32_t size = number();
        if (size != 0xFFFFFFFFu) skip(size, 1);  // otherwise it is NA
        break;
      }
      case kLogicals:
      case kIntegers: skip(length(4), 4); break;
      case kReals: skip(length(8), 8); break;
      case kComplexes: skip(length(16), 16); break;
      case kRaw: skip(length(1), 1); break;
      case kStrings: items(Location::name); break;
      case kList:
      case kExpressions: items(location == Location::frames ? Location::frame : Location::inside); break;
      case kS4: break;
      case kBaseEnvironment:
      case kEmptyEnvironment:
      case kBaseNamespace:
      case kMissing:
      case kUnbound:
      case kGlobal:
      case kNull: return;
      default: invalid("an item of an unknown type");
    }
    attributes(flags);
  }

  void items(Location location) {
    const std::size_t count = length(4);
    for (std::size_t k = 0; k < count; ++k) item(location);
  }

  // The compiled form of a function: code, and constants that may share calls.
  void bytecode() {
    if (++depth_ > 5000) invalid("a nest without end");
    item(Location::inside);
    const std::size_t count = length(4);
    for (std::size_t k = 0; k < count; ++k) constant(number());
    --depth_;
  }

  void constant(unsigned type) {
    if (type == kBytecode) bytecode();
    else if (is_code(type)) code(type);
    else item(Location::inside);
  }

  static bool is_code(unsigned type) {
    return type == kCall || type == kPairs || type == kRepeated || type == kRepeatable || type == kCallPairs ||
           type == kCallWithAttributes;
  }

  void code(unsigned type) {
    if (++depth_ > 5000) invalid("a nest without end");
    while (is_code(type) && type != kRepeated) {
      if (type == kRepeatable) {
        if (number() >= repeatable_) invalid("a reference to nothing");
        type = number();
        if (!is_code(type) || type == kRepeated || type == kRepeatable) invalid("a call that is none");
      }
      if (type == kCallPairs || type == kCallWithAttributes) item(Location::inside);
      item(Location::inside);  // its tag
      code(number());
      type = number();
    }
    if (type == kRepeated) {
      if (number() >= repeatable_) invalid("a reference to nothing");
    } else {
      item(Location::inside);
    }
    --depth_;
  }

  const unsigned char* at_;
  const unsigned char* end_;
  std::vector<Known> known_;
  std::size_t repeatable_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string invalid_in_function(const unsigned char* bytes, std::size_t size) {
  try {
    Stream(bytes, size).whole();
  } catch (const Invalid& found) {
    return found.words;
  }
  return "";
}

}  // namespace gpb
