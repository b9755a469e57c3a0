// System functions that R lacks: local sockets, a server's connections, random bytes. Uses base/ and the adapters r_*.

#ifdef _WIN32
#define _CRT_RAND_S  // rand_s(), the system's generator
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
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
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <Rcpp/Lightest>

#include "base/failures.h"
#include "r_lists.h"

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
Rcpp::List cpp_listen_local() {
  Rcpp::XPtr<Listener> listener(new Listener(), true);
  return gpb::named_list("listener", listener, "port", listener->port());
}

// [[Rcpp::export(rng = false)]]
void cpp_close_listener(SEXP listener) { Rcpp::XPtr<Listener>(listener)->close(); }

// The identities of regular files on this machine; "" for others and those that do not exist (on Windows for all).
// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_file_ids(const std::vector<std::string>& paths) {
  std::vector<std::string> out(paths.size());
#ifndef _WIN32
  for (std::size_t k = 0; k < paths.size(); ++k) {
    struct stat about;
    if (stat(paths[k].c_str(), &about) == 0 && S_ISREG(about.st_mode)) {
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
