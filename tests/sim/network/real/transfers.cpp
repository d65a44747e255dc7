// A socket keeps the namespace it was opened in, so one thread can hold those of all hosts.
#include "tests/sim/network/real/transfers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <queue>

namespace sim::network::real {
namespace {

using Clock = std::chrono::steady_clock;

class File {
 public:
  File() = default;
  explicit File(int number) : number_(number) {
    if (number < 0) throw CannotEmulate(std::strerror(errno));
  }
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~File() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

void check(int status) {
  if (status < 0) throw CannotEmulate(std::strerror(errno));
}

// Where this thread was before, again afterwards.
class Stay {
 public:
  Stay() : home_(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {}
  ~Stay() { setns(home_.number(), CLONE_NEWNET); }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
  static void enter(const std::string& file) {
    const File space(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    check(setns(space.number(), CLONE_NEWNET));
  }

 private:
  File home_;
};

struct Connection {
  File sender, receiver;
  std::int64_t to_send = 0, received = 0;
  std::int64_t due = 0;     // received bytes when the first of `flows` is complete
  std::deque<int> flows;    // under way, in order
  bool is_waiting = false;  // for room to send
};

void prepare(const File& socket) {
  const int on = 1;
  check(setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  check(fcntl(socket.number(), F_SETFL, O_NONBLOCK));
}

// What a flow gets by htb classes is the same with any congestion control that fills its queue.
Connection connection(const EmulatedNetwork& network, std::size_t pair) {
  const auto [from, to] = network.pairs()[pair];
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(EmulatedNetwork::first_port + pair));
  inet_pton(AF_INET, EmulatedNetwork::address(to).c_str(), &address.sin_addr);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  Connection result;
  Stay::enter(network.file_of_host(to));
  const File listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  check(setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  check(bind(listener.number(), generic, sizeof address));
  check(listen(listener.number(), 1));
  Stay::enter(network.file_of_host(from));
  result.sender = File(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const char control[] = "cubic";
  check(
      setsockopt(result.sender.number(), IPPROTO_TCP, TCP_CONGESTION, control, sizeof control - 1));
  check(connect(result.sender.number(), generic, sizeof address));
  result.receiver = File(accept(listener.number(), nullptr, nullptr));
  prepare(result.sender);
  prepare(result.receiver);
  return result;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Driver {
 public:
  Driver(const Pattern& pattern, const EmulatedNetwork& network)
      : pattern_(pattern), network_(network), poll_(epoll_create1(EPOLL_CLOEXEC)) {
    const Stay stay;
    for (std::size_t p = 0; p < network.pairs().size(); ++p) {
      connections_.push_back(connection(network, p));
      watch(EPOLL_CTL_ADD, p, true, EPOLLIN);
      watch(EPOLL_CTL_ADD, p, false, 0);
    }
    const std::size_t flows = pattern.flows.size();
    missing_.resize(flows);
    followers_.resize(flows);
    result_.start.resize(flows);
    result_.end.resize(flows);
    for (std::size_t f = 0; f < flows; ++f) {
      missing_[f] = pattern.flows[f].after.size();
      for (const int before : pattern.flows[f].after) {
        followers_[static_cast<std::size_t>(before)].push_back(f);
      }
    }
  }

  Transfers run() {
    const double cpu = cpu_seconds();
    begin_ = Clock::now();
    for (std::size_t f = 0; f < missing_.size(); ++f) {
      if (missing_[f] == 0) release(f, 0);
    }
    while (done_ < missing_.size()) step();
    result_.cpu_share = (cpu_seconds() - cpu) / now();
    return std::move(result_);
  }

 private:
  double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  void watch(int what, std::size_t pair, bool is_receiver, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = 2 * pair + (is_receiver ? 1 : 0);
    const Connection& c = connections_[pair];
    check(epoll_ctl(poll_.number(), what, (is_receiver ? c.receiver : c.sender).number(), &event));
  }

  void release(std::size_t flow, double at) {
    later_.emplace(at + pattern_.flows[flow].delay, flow);
    start_due();
  }

  void start_due() {
    while (!later_.empty() && later_.top().first <= now()) {
      const std::size_t f = later_.top().second;
      later_.pop();
      const Flow& flow = pattern_.flows[f];
      const auto& pairs = network_.pairs();
      const auto pair = static_cast<std::size_t>(
          std::find(pairs.begin(), pairs.end(), std::pair(flow.from, flow.to)) - pairs.begin());
      Connection& c = connections_[pair];
      result_.start[f] = now();
      if (c.flows.empty()) c.due = c.received + flow.bytes;
      c.flows.push_back(static_cast<int>(f));
      c.to_send += flow.bytes;
      send(pair);
    }
  }

  void send(std::size_t pair) {
    Connection& c = connections_[pair];
    while (c.to_send > 0) {
      const auto size = std::min<std::int64_t>(c.to_send, static_cast<std::int64_t>(zeros_.size()));
      const ssize_t sent =
          ::send(c.sender.number(), zeros_.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) break;
      check(static_cast<int>(std::min<ssize_t>(sent, 0)));
      c.to_send -= sent;
    }
    if ((c.to_send > 0) == c.is_waiting) return;
    c.is_waiting = c.to_send > 0;
    watch(EPOLL_CTL_MOD, pair, false, c.is_waiting ? std::uint32_t{EPOLLOUT} : 0);
  }

  void receive(std::size_t pair) {
    Connection& c = connections_[pair];
    while (true) {
      // Truncated: counted and thrown away without a copy.
      const ssize_t size = recv(c.receiver.number(), zeros_.data(), zeros_.size(), MSG_TRUNC);
      if (size <= 0) break;
      c.received += size;
    }
    while (!c.flows.empty() && c.received >= c.due) {
      const auto f = static_cast<std::size_t>(c.flows.front());
      c.flows.pop_front();
      if (!c.flows.empty()) {
        c.due += pattern_.flows[static_cast<std::size_t>(c.flows.front())].bytes;
      }
      result_.end[f] = now();
      ++done_;
      for (const std::size_t follower : followers_[f]) {
        if (--missing_[follower] == 0) release(follower, result_.end[f]);
      }
    }
  }

  void step() {
    constexpr int patience_ms = 10'000;
    int wait = patience_ms;
    if (!later_.empty()) {
      wait = std::clamp(static_cast<int>((later_.top().first - now()) * 1e3), 0, patience_ms);
    }
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(poll_.number(), events.data(), events.size(), wait);
    check(count);
    if (count == 0 && later_.empty()) throw CannotEmulate("nothing arrives any more");
    for (int i = 0; i < count; ++i) {
      const std::uint64_t which = events[static_cast<std::size_t>(i)].data.u64;
      const auto pair = static_cast<std::size_t>(which / 2);
      which % 2 == 1 ? receive(pair) : send(pair);
    }
    start_due();
  }

  const Pattern& pattern_;
  const EmulatedNetwork& network_;
  File poll_;
  std::vector<Connection> connections_;
  std::vector<std::size_t> missing_;                 // [flow] that it waits for
  std::vector<std::vector<std::size_t>> followers_;  // [flow]
  std::priority_queue<std::pair<double, std::size_t>, std::vector<std::pair<double, std::size_t>>,
                      std::greater<>>
      later_;
  std::vector<char> zeros_ = std::vector<char>(std::size_t{1} << 18);
  Clock::time_point begin_;
  std::size_t done_ = 0;
  Transfers result_;
};

}  // namespace

Transfers transfer(const Pattern& pattern, const EmulatedNetwork& network) {
  return Driver(pattern, network).run();
}

}  // namespace sim::network::real
