// What R has no function for: a socket that only this machine reaches, the connections of a server
// in this process, random numbers from the system.
#ifdef _WIN32
#define _CRT_RAND_S  // rand_s(), the system's generator
#include <winsock2.h>
#else
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <Rcpp/Lightest>

namespace {

#ifdef _WIN32
using Socket = SOCKET;
constexpr Socket kNone = INVALID_SOCKET;
using Size = int;

void start_sockets() {
  WSADATA about;
  if (WSAStartup(MAKEWORD(2, 2), &about) != 0) throw std::runtime_error("no sockets here");
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

// Listens on 127.0.0.1, on a port that the system chooses. Whoever connects waits, and notices when
// this is gone.
class Listener {
 public:
  Listener() {
    start_sockets();
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (socket_ == kNone) throw std::runtime_error("no socket could be made");
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
      throw std::runtime_error("no port is free on 127.0.0.1");
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

// "address port" of one end of a socket; empty where there is none.
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

// Calls f(file, peer) for each connection to a port of ours. Files have the lowest numbers that are
// free: where a thousand in a row are none, there are no more.
template <class F>
void each_connection(int port, const F& f) {
  const int most = most_files();
  for (int file = 0, absent = 0; file < most && absent < 1000; ++file) {
    int here = 0;
    int there = 0;
    errno = 0;
    const bool ours = !end_of(file, getsockname, &here).empty() && here == port;
    absent = errno == EBADF ? absent + 1 : 0;
    if (!ours) continue;
    const std::string peer = end_of(file, getpeername, &there);
    if (!peer.empty()) f(file, peer);
  }
}

// Without waiting, and without the signal that comes where nobody listens any more.
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
  return Rcpp::List::create(Rcpp::_["listener"] = listener, Rcpp::_["port"] = listener->port());
}

// [[Rcpp::export(rng = false)]]
void cpp_close_listener(SEXP listener) { Rcpp::XPtr<Listener>(listener)->close(); }

// Who is connected to a port of this process, "address port" each. (None on Windows, where it
// cannot be told.)
// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_connections(int port) {
  std::vector<std::string> out;
#ifndef _WIN32
  each_connection(port, [&](int, const std::string& peer) { out.push_back(peer); });
#endif
  return out;
}

// Ends some of them, after some last words. The server's thread, which has the socket, finds it at
// its end and closes it. (Were it closed and given to a new client since we looked at it, that
// client would have to come again.)
// [[Rcpp::export(rng = false)]]
int cpp_end_connections(int port, const std::vector<std::string>& peers,
                        const std::string& words) {
  int count = 0;
#ifndef _WIN32
  if (peers.empty()) return count;
  each_connection(port, [&](int file, const std::string& peer) {
    if (std::find(peers.begin(), peers.end(), peer) == peers.end()) return;
    const bool said = words.empty() || say(file, words);
    if (shutdown(file, SHUT_RDWR) == 0 && said) ++count;
  });
#endif
  return count;
}

// How many files (and connections) this process may have open.
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
    if (rand_s(&value) != 0) throw std::runtime_error("the system gives no random numbers");
    byte = static_cast<unsigned char>(value);
  }
#else
  std::FILE* const source = std::fopen("/dev/urandom", "rb");
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t got = source == nullptr ? 0 : std::fread(RAW(out), 1, wanted, source);
  if (source != nullptr) std::fclose(source);
  if (got != wanted) throw std::runtime_error("/dev/urandom gives no random numbers");
#endif
  return out;
}
