// Collectives between ranks of this process: each card reads the parts of the others by itself, and streams wait for
// events that the ranks hand to each other when they meet. Reductions of small parts do so in their first run only,
// where the members have cards of their own: from then on they are kernels that wait for each other (exchange.h).
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "engine/devices/cuda/exchange.h"
#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/launched_call.h"
#include "engine/devices/cuda/nccl/library.h"
#include "engine/devices/cuda/operation.h"
#include "ops/ranks.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostRanks = 16;  // whose parts a kernel reads

// A message of a rank to the others: where its part lies, and when it is there and may be overwritten.
struct Station {
  const Card* card = nullptr;
  uint64_t part = 0;
  Event is_there = nullptr;
  Event is_read = nullptr;
  const Exchange* exchange = nullptr;  // of the queue and the members
};

class CardEvent {
 public:
  explicit CardEvent(std::shared_ptr<const Card> card) : card_(std::move(card)) {
    card_->enter();
    card_->driver().check(card_->api().event_create(&event_, kEventWithoutTime), "an event");
  }
  ~CardEvent() {
    card_->api().context_set(card_->context());
    card_->api().event_destroy(event_);
  }
  CardEvent(const CardEvent&) = delete;
  CardEvent& operator=(const CardEvent&) = delete;
  Event get() const { return event_; }

 private:
  std::shared_ptr<const Card> card_;
  Event event_ = nullptr;
};

// A layer with its kernel, for parts of so many ranks; none if elements are moved.
struct CollectiveWork {
  ops::Node node;
  TensorDesc in;
  std::optional<Launch> launch;
  std::optional<Launch> following;  // does what follows what a library has put into the workspace
  std::vector<Launch> waiting;      // without the addresses of an exchange; empty: none serves it
  uint64_t packet_bytes = 0;        // for an exchange
  int64_t ranks = 0;
};

// Events of one meeting on one card.
struct MeetingEvents {
  explicit MeetingEvents(const std::shared_ptr<const Card>& card) : is_there(card), is_read(card) {}
  CardEvent is_there;
  CardEvent is_read;
};

class CollectiveCall final : public Call {
 public:
  CollectiveCall(std::shared_ptr<const CollectiveWork> work, const std::shared_ptr<const Card>& card,
                 const Arguments& given)
      : work_(std::move(work)), first_(card), second_(card), arguments_(given) {}

  void rebind(const Arguments& arguments) override {
    arguments_ = arguments;
    if (waiting_) waiting_->rebind(arguments);
  }

  void run(Queue& queue) override {
    auto& own = dynamic_cast<LaunchQueue&>(queue);
    ops::Ranks& ranks = ops::current_ranks();
    const bool is_prepared = era_ == ranks.era();  // also without eras
    if (waiting_ && is_prepared && ranks.may_wait()) return own.add(*waiting_);
    const ops::Collective collective = ops::collective_of(work_->node, work_->in.dtype, work_->in.dims, ranks);
    const ops::Combination combination =
        ops::combination_of(collective, ranks.rank(), static_cast<uint64_t>(work_->in.count()));
    const Address in = arguments_.inputs[0], out = arguments_.outputs[0];
    if (ranks.uses_library()) {
      if (!is_decided_) decide(own, ranks, collective);
      if (communicators_) return run_in_library(own, ranks, collective, combination);
    }
    if (shares_sum(collective)) return share_sum(own, ranks, collective);
    meet(own, ranks, collective, in, first_, [&](const Stations& stations) {
      combination.reduces ? reduce(own, stations, combination.pieces.front(), 0)
                          : move(own, stations, combination.pieces, out);
    });
    if (!work_->waiting.empty() && !ranks.uses_library() && !is_prepared) prepare(own, ranks, collective);
  }

 private:
  using Stations = std::vector<Station>;

  static tensor::Tensor as_tensor(const Station& station) {
    std::vector<std::byte> bytes(sizeof station);
    std::memcpy(bytes.data(), &station, sizeof station);
    return {tensor::DType::uint8, {sizeof station}, tensor::make_owned(std::move(bytes))};
  }
  static Station as_station(const tensor::Tensor& tensor) {
    Station station;
    std::memcpy(&station, tensor.bytes().data(), sizeof station);
    return station;
  }

  static std::vector<const Card*> cards_of(std::span<const tensor::Tensor> parts) {
    std::vector<const Card*> cards;
    for (const tensor::Tensor& given : parts) cards.push_back(as_station(given).card);
    return cards;
  }
  static size_t place_among(const ops::Collective& collective, const ops::Ranks& ranks) {
    return static_cast<size_t>(std::ranges::find(collective.members, ranks.rank()) - collective.members.begin());
  }

  uint64_t element_bytes() const { return tensor::bit_width(work_->in.dtype) / 8; }

  // Lets `read` add work that reads what all ranks have at the places that they name. What follows in the queue may
  // overwrite this rank's own.
  void meet(LaunchQueue& queue, ops::Ranks& ranks, const ops::Collective& collective, Address part,
            const MeetingEvents& events, FunctionRef<void(const Stations& stations)> read) const {
    queue.record(events.is_there.get());
    const Station mine{&queue.card(), part.value, events.is_there.get(), events.is_read.get(), nullptr};
    Stations stations;
    ranks.meet(collective, as_tensor(mine), [&](std::span<const tensor::Tensor> parts) {
      for (const tensor::Tensor& given : parts) stations.push_back(as_station(given));
      for (const Station& station : stations) {
        queue.card().reach(*station.card);
        if (station.is_there != mine.is_there) queue.wait_for(station.is_there);
      }
      read(stations);
      queue.record(mine.is_read);
    });
    for (const Station& station : stations) {
      if (station.is_read != mine.is_read) queue.wait_for(station.is_read);
    }
  }

  // Agrees with the members upon an exchange for the runs from now on, if their cards can serve one.
  void prepare(LaunchQueue& queue, ops::Ranks& ranks, const ops::Collective& known) {
    std::vector<ExchangePlace>& held = queue.exchanges();
    std::erase_if(held, [&](const ExchangePlace& at) { return at.exchange->era() != ranks.era(); });
    const auto last = std::find_if(held.rbegin(), held.rend(),
                                   [&](const ExchangePlace& at) { return at.exchange->is_of(known.members); });
    const std::shared_ptr<Exchange> kept = last == held.rend() ? nullptr : last->exchange;
    const Station mine{.card = &queue.card(), .exchange = kept.get()};
    bool is_served = false;
    ops::Collective collective = known;
    collective.name += " (cards)";
    ranks.meet(collective, as_tensor(mine), [&](std::span<const tensor::Tensor> parts) {
      const std::vector<const Card*> cards = cards_of(parts);
      is_served = Exchange::can_serve(cards);
      if (!is_served) return;
      for (const Card* const card : cards) queue.card().reach(*card);
      if (known.members.front() != ranks.rank()) return;
      const bool is_same = std::ranges::all_of(
          parts, [&](const tensor::Tensor& given) { return as_station(given).exchange == kept.get(); });
      const bool is_enough = is_same && kept && kept->takes(work_->packet_bytes);
      ranks.shared(known.members) = is_enough ? kept : make_exchange(cards, ranks, known.members);
      std::static_pointer_cast<Exchange>(ranks.shared(known.members))->add(known);
      queue.card().enter();
    });
    era_ = ranks.era();
    waiting_.reset();
    if (is_served) take(std::static_pointer_cast<Exchange>(ranks.shared(known.members)), queue, ranks, known);
  }

  std::shared_ptr<Exchange> make_exchange(const std::vector<const Card*>& cards, ops::Ranks& ranks,
                                          const std::vector<int64_t>& members) const {
    const auto made = std::make_shared<Exchange>(cards, members, work_->packet_bytes, *ranks.era());
    ranks.tell(made);
    return made;
  }

  void take(const std::shared_ptr<Exchange>& exchange, LaunchQueue& queue, const ops::Ranks& ranks,
            const ops::Collective& collective) {
    const size_t place = place_among(collective, ranks);
    std::vector<ExchangePlace>& held = queue.exchanges();
    if (std::ranges::find(held, exchange, &ExchangePlace::exchange) == held.end()) held.push_back({exchange, place});
    const auto launches = std::make_shared<Launches>();
    const auto trial = std::make_shared<Launches>();
    for (const Launch& made : work_->waiting) {
      launches->all.push_back(exchange->launch(made, place, ranks.deadline_seconds()));
      trial->all.push_back(exchange->trial(launches->all.back(), place));
    }
    launches->constants.push_back({.first = {}, .bytes = 0, .owner = exchange});
    waiting_ = std::make_unique<LaunchedCall>(launches, arguments_);
    LaunchedCall once(trial, arguments_);
    once.run(queue);
    queue.submit();
  }

  // Finds out if the library serves better, the same on all ranks, and makes communicators if there are none yet.
  void decide(const LaunchQueue& queue, ops::Ranks& ranks, ops::Collective collective) {
    const std::vector<int64_t> members = collective.members;
    const Station mine{.card = &queue.card()};
    bool is_wanted = false;
    collective.name += " (cards)";
    ranks.meet(collective, as_tensor(mine), [&](std::span<const tensor::Tensor> parts) {
      const std::vector<const Card*> cards = cards_of(parts);
      const bool is_large = work_->in.size_bytes() > Exchange::kMostPushed;
      is_wanted = nccl::Library::takes(collective.operation, work_->in.dtype) && (is_large || !reach_each_other(cards));
      std::shared_ptr<void>& made = ranks.shared(members);
      if (made || members.front() != ranks.rank()) return;
      is_wanted ? void(made = make_communicators(cards)) : void(library());  // asked for, so an absent one is an error
    });
    if (is_wanted) communicators_ = std::static_pointer_cast<nccl::Communicators>(ranks.shared(members));
    is_decided_ = true;
  }

  static bool reach_each_other(const std::vector<const Card*>& cards) {
    return std::ranges::all_of(cards, [&](const Card* card) {
      return std::ranges::all_of(cards, [&](const Card* other) { return card->can_reach(*other); });
    });
  }

  static std::shared_ptr<nccl::Communicators> make_communicators(const std::vector<const Card*>& cards) {
    std::vector<int> numbers;
    for (const Card* const card : cards) {
      if (std::ranges::find(numbers, card->number()) != numbers.end())
        fail(ErrorCode::unsupported, "NCCL needs a card for each rank, and cuda:{} has several", card->number());
      numbers.push_back(card->number());
    }
    return std::make_shared<nccl::Communicators>(library(), numbers);
  }

  static const nccl::Library& library() {
    std::string reason;
    const nccl::Library* const library = nccl::Library::find({}, reason);
    if (library == nullptr) fail(ErrorCode::unsupported, "{}", reason);
    return *library;
  }

  void run_in_library(LaunchQueue& queue, ops::Ranks& ranks, const ops::Collective& collective,
                      const ops::Combination& combination) const {
    const size_t place = place_among(collective, ranks);
    const ops::Piece& first = combination.pieces.front();
    const nccl::Library::Work work = {
        .from = arguments_.inputs[0].value,
        .to = (work_->following ? arguments_.workspace : arguments_.outputs[0]).value,
        .count = combination.reduces ? first.count : static_cast<uint64_t>(work_->in.count()),
        .dtype = work_->in.dtype,
        .reduction = collective.reduction,
        .root = static_cast<int>(first.part)};
    ranks.meet(collective, as_tensor({.card = &queue.card()}), [&](std::span<const tensor::Tensor>) {
      const Stream stream = queue.stream();
      communicators_->library().add(collective.operation, work, (*communicators_)[place], stream);
      queue.card().enter();
    });
    if (work_->following) queue.add(*work_->following, parameters_of(*work_->following, arguments_));
  }

  // True if it is less work for each rank to add up its share of the elements and to fetch the other sums.
  bool shares_sum(const ops::Collective& collective) const {
    const bool is_sum = collective.operation == "all_reduce" || collective.operation == "reduce";
    return is_sum && !work_->following && collective.members.size() > 2 &&
           work_->in.size_bytes() > Exchange::kMostPushed;
  }

  // The shares of all ranks begin at multiples of what a kernel's thread takes at once.
  std::vector<ops::Piece> shares(size_t members) const {
    const auto count = static_cast<uint64_t>(work_->in.count());
    constexpr uint64_t kUnit = 64;
    const uint64_t each = (count / members + kUnit) / kUnit * kUnit;
    std::vector<ops::Piece> pieces;
    for (size_t i = 0; i < members; ++i) {
      const uint64_t begin = std::min(count, i * each);
      pieces.push_back({i, begin, std::min(count, begin + each) - begin});
    }
    return pieces;
  }

  void share_sum(LaunchQueue& queue, ops::Ranks& ranks, ops::Collective collective) const {
    const std::vector<ops::Piece> pieces = shares(collective.members.size());
    const size_t own = place_among(collective, ranks);
    const Address out = arguments_.outputs[0];
    meet(queue, ranks, collective, arguments_.inputs[0], first_,
         [&](const Stations& stations) { reduce(queue, stations, pieces[own], pieces[own].begin); });
    collective.name += " (sums of others)";
    meet(queue, ranks, collective, out, second_, [&](const Stations& stations) {
      for (const ops::Piece& piece : pieces) {
        if (piece.part != own) move(queue, stations, {piece}, out + piece.begin * element_bytes());
      }
    });
  }

  // Results begin at number `first`.
  void reduce(LaunchQueue& queue, const Stations& stations, const ops::Piece& piece, uint64_t first) const {
    if (static_cast<int64_t>(stations.size()) != work_->ranks) {
      fail(ErrorCode::shape, "{} ranks meet where the model is made for {}", stations.size(), work_->ranks);
    }
    if (piece.count == 0) return;
    Launch launch = *work_->launch;
    for (size_t i = 0; i < stations.size(); ++i) {
      launch.pointers[i] = fixed_pointer({stations[i].part + piece.begin * element_bytes()});
    }
    launch.numbers[Summing::kCountPlace] = static_cast<int32_t>(piece.count);
    launch.numbers[Summing::kFirstPlace] = static_cast<int32_t>(first);
    queue.add(launch, parameters_of(launch, arguments_));
  }

  void move(LaunchQueue& queue, const Stations& stations, const std::vector<ops::Piece>& pieces, Address to) const {
    for (const ops::Piece& piece : pieces) {
      const Address from{stations[piece.part].part + piece.begin * element_bytes()};
      queue.copy_from_any(from, to, piece.count * element_bytes());
      to = to + piece.count * element_bytes();
    }
  }

  std::shared_ptr<const CollectiveWork> work_;
  MeetingEvents first_;
  MeetingEvents second_;
  Arguments arguments_;
  std::optional<uint64_t> era_;            // of the ranks, for which it is prepared
  std::unique_ptr<LaunchedCall> waiting_;  // null: an exchange serves it not
  bool is_decided_ = false;
  std::shared_ptr<nccl::Communicators> communicators_;  // null: own kernels serve better
};

class CollectiveKernel final : public Kernel {
 public:
  CollectiveKernel(CollectiveWork work, std::shared_ptr<const Card> card)
      : work_(std::make_shared<const CollectiveWork>(std::move(work))), card_(std::move(card)) {}
  uint64_t workspace_bytes() const override { return work_->following ? work_->in.size_bytes() : 0; }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override {
    return std::make_unique<CollectiveCall>(work_, card_, arguments);
  }

 private:
  std::shared_ptr<const CollectiveWork> work_;
  std::shared_ptr<const Card> card_;
};

// The number of ranks that meet, as the model says; 0: it does not.
int64_t ranks_of(const ops::Node& node) {
  if (const int64_t size = node.integer("group_size", 0); size > 0) return size;
  const auto listed = static_cast<int64_t>(node.integers("groups").size());
  return listed > 0 ? listed : node.integer("nb_rank", 0);
}

int64_t number_of_reduction(const CollectiveWork& work) {
  static constexpr std::array<std::string_view, 5> kWords = {"sum", "prod", "min", "max", "avg"};
  return std::ranges::find(kWords, work.node.string("reduce_op")) - kWords.begin();
}

class Collectives final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "collective.peers"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.starts_with("DistCollective") || !layer.lies_plainly()) return {};
    const TensorDesc& in = layer.inputs[0];
    CollectiveWork work{.node = layer.facts(layer.nodes[0]), .in = in};
    const std::string_view operation = work.node.string("collective_operation");
    if (in.count() == 0 || in.dtype == tensor::DType::string || tensor::bit_width(in.dtype) % 8 != 0) return {};
    work.ranks = ranks_of(work.node);
    const bool reduces = operation.find("reduce") != std::string_view::npos;
    if (reduces ? !make_launches(layer, work) : !layer.is_single()) return {};
    return std::make_unique<CollectiveKernel>(std::move(work), programs().card().shared_from_this());
  }

 private:
  // False: another kernel is needed.
  bool make_launches(const Layer& layer, CollectiveWork& work) const {
    const TensorDesc& in = work.in;
    if (in.count() > kMostElements || !is_short_float(in.dtype) || work.ranks < 2 || work.ranks > kMostRanks)
      return false;
    std::optional<ElementSite> site = followed_site(layer, 1, {});
    if (!site || !site->find_walk(128 / tensor::bit_width(in.dtype))) return false;
    const int64_t count = layer.outputs[0].count();
    const Summing summing{in.dtype, count, work.ranks, number_of_reduction(work), *std::move(site)};
    work.launch = make_summing_launch(programs(), summing, fixed_pointer({}));
    if (!layer.is_single()) {
      Summing alone = summing;
      alone.ranks = 1;
      work.following = make_summing_launch(programs(), alone, workspace_pointer());
    }
    if (count == in.count() && Exchange::suits(summing)) {
      work.waiting = make_exchange_launches(programs(), summing);
      work.packet_bytes = Exchange::packet_bytes(summing);
    }
    return true;
  }
};

}  // namespace

KernelFamily cuda_kernel_collectives() { return family_of<Collectives>(); }

}  // namespace assay::engine::cuda
