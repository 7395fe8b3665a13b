// SPDX-License-Identifier: MIT
// The emulated device: a scheduler of fibers, one per CUDA thread, and the checks at their meeting
// points.
//
// A thread runs until it waits at a meeting point or ends; then another one gets its turn. A
// meeting takes place when everybody it names has arrived. A mistake ends the process with a
// message and exit code 3: a lane outside its own mask, a named lane that stands at another line, a
// shuffle from a lane outside the mask, a deadlock (which is also what follows when a thread ends
// before a meeting that names it). Launches beyond the device's limits are refused.
//
// Sanitizers are told about the fibers. For the thread sanitizer the switch itself orders nothing;
// only __syncthreads and __syncwarp do (shuffles and ballots promise no memory order), so a missing
// barrier is a race that it sees.
#include "runtime.h"

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "context.h"

#if defined(SVMF_EMULATION_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(SVMF_EMULATION_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace emulation {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kMaxBlock = 1024;
constexpr size_t kMaxShared = 48 * 1024;
constexpr size_t kStack = 256 * 1024;

struct Thread {
  Context context;
  char* stack = nullptr;
  bool ended = false;
  bool ready = true;  // may run: not waiting, or its meeting took place
  Meeting kind = Meeting::kNone;
  unsigned mask = 0;
  uint64_t value = 0;
  int source = 0;
  const char* file = nullptr;
  int line = 0;
  void* fake_stack = nullptr;  // address sanitizer
  void* fiber = nullptr;       // thread sanitizer
  unsigned syncs[2] = {};      // __syncwarp and __syncthreads that it has reached
};

struct Device {
  Launch launch;
  const std::function<void()>* kernel = nullptr;
  std::vector<Thread> threads;
  int current = 0;
  unsigned block = 0;
  size_t at_barrier = 0;          // threads that wait at __syncthreads
  std::vector<unsigned> arrived;  // per warp: lanes that wait at a warp's meeting
  char* shared = nullptr;
  Context host;
  void* host_fake_stack = nullptr;
  const void* host_stack = nullptr;
  size_t host_stack_size = 0;
  void* host_fiber = nullptr;
  std::vector<char*> stacks;  // kept for the next launch
  size_t stacks_in_use = 0;
  std::vector<char*> shared_blocks;  // kept until the launch ends, like the fibers
  std::vector<void*> fibers;
  std::vector<char> sync_objects;  // thread sanitizer: two addresses per warp and for the block
  char launch_end = 0;
};
Device device;

uint64_t next_random(uint64_t* state) {  // Knuth's MMIX generator: any order will do
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return *state >> 33;
}

const char* name_of(Meeting kind) {
  switch (kind) {
    case Meeting::kSyncThreads:
      return "__syncthreads";
    case Meeting::kSyncWarp:
      return "__syncwarp";
    case Meeting::kShuffle:
      return "shuffle";
    case Meeting::kBallot:
      return "ballot";
    default:
      return "nothing";
  }
}

[[noreturn]] void fail(const char* message) {
  const Thread& t = device.threads[device.current];
  std::fprintf(stderr, "emulation: block %u, thread %d, %s at %s:%d: %s\n", device.block,
               device.current, name_of(t.kind), t.file ? t.file : "?", t.line, message);
  std::fflush(stderr);
  std::_Exit(3);
}

[[noreturn]] void fail_deadlock() {
  std::fprintf(stderr, "emulation: block %u: deadlock\n", device.block);
  for (size_t i = 0; i < device.threads.size(); ++i) {
    const Thread& t = device.threads[i];
    if (t.ended)
      std::fprintf(stderr, "  thread %zu has ended\n", i);
    else
      std::fprintf(stderr, "  thread %zu waits: %s at %s:%d, mask %08x\n", i, name_of(t.kind),
                   t.file, t.line, t.mask);
  }
  std::fflush(stderr);
  std::_Exit(3);
}

void to_host() {
  Thread& t = device.threads[device.current];
#if defined(SVMF_EMULATION_ASAN)
  __sanitizer_start_switch_fiber(t.ended ? nullptr : &t.fake_stack, device.host_stack,
                                 device.host_stack_size);
#endif
#if defined(SVMF_EMULATION_TSAN)
  __tsan_switch_to_fiber(device.host_fiber, __tsan_switch_to_fiber_no_sync);
#endif
  switch_context(&t.context, &device.host);
#if defined(SVMF_EMULATION_ASAN)
  __sanitizer_finish_switch_fiber(t.fake_stack, &device.host_stack, &device.host_stack_size);
#endif
}

void to_thread(int index) {
  device.current = index;
  Thread& t = device.threads[index];
#if defined(SVMF_EMULATION_ASAN)
  __sanitizer_start_switch_fiber(&device.host_fake_stack, t.stack, kStack);
#endif
#if defined(SVMF_EMULATION_TSAN)
  __tsan_switch_to_fiber(t.fiber, __tsan_switch_to_fiber_no_sync);
#endif
  switch_context(&device.host, &t.context);
#if defined(SVMF_EMULATION_ASAN)
  __sanitizer_finish_switch_fiber(device.host_fake_stack, nullptr, nullptr);
#endif
}

void thread_main() {
#if defined(SVMF_EMULATION_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &device.host_stack, &device.host_stack_size);
#endif
  (*device.kernel)();
  device.threads[device.current].ended = true;
#if defined(SVMF_EMULATION_TSAN)
  __tsan_release(&device.launch_end);
#endif
  to_host();
}

// Barriers take turns between two addresses: a thread that leaves one after others have reached the
// next learns nothing of what they did in between. Who is two barriers ahead cannot be.
void order_memory([[maybe_unused]] bool arriving, [[maybe_unused]] Meeting kind) {
#if defined(SVMF_EMULATION_TSAN)
  if (kind != Meeting::kSyncThreads && kind != Meeting::kSyncWarp) return;
  const bool block = kind == Meeting::kSyncThreads;
  const size_t warps = device.threads.size() / kWarp + 1;
  const size_t within = block ? warps : static_cast<size_t>(device.current / kWarp);
  unsigned& syncs = device.threads[static_cast<size_t>(device.current)].syncs[block];
  if (arriving) ++syncs;
  char* object = &device.sync_objects[2 * (device.block * (warps + 1) + within) + syncs % 2];
  if (arriving)
    __tsan_release(object);
  else
    __tsan_acquire(object);
#endif
}

bool same_meeting(const Thread& a, const Thread& b) {
  return a.kind == b.kind && a.mask == b.mask && a.line == b.line &&
         (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

// Called by everybody who arrives; the last one holds the meeting.
void hold_block_meeting() {
  if (++device.at_barrier < device.threads.size()) return;
  const Thread& last = device.threads[device.current];
  for (const Thread& t : device.threads) {
    if (!same_meeting(t, last)) fail("threads of the block wait at different barriers");
  }
  for (Thread& t : device.threads) t.ready = true;
  device.at_barrier = 0;
}

void hold_warp_meeting() {
  const int base = device.current / kWarp * kWarp;
  const int count = std::min<int>(kWarp, static_cast<int>(device.threads.size()) - base);
  Thread* const warp = &device.threads[base];
  const Thread& last = device.threads[device.current];
  const unsigned mask = last.mask;
  unsigned& arrived = device.arrived[device.current / kWarp];
  arrived |= 1u << (device.current - base);
  if (!(mask >> (device.current - base) & 1)) fail("the calling lane is not in the mask");
  if (count < kWarp && mask >> count != 0) fail("the mask names a lane that does not exist");
  if ((arrived & mask) != mask) return;
  unsigned ballot = 0;
  uint64_t brought[kWarp] = {};
  for (int i = 0; i < count; ++i) {
    if (!(mask >> i & 1)) continue;
    if (!same_meeting(warp[i], last))
      fail("a lane of the mask waits elsewhere: the warp has diverged");
    brought[i] = warp[i].value;
    if (brought[i] != 0) ballot |= 1u << i;
  }
  for (int i = 0; i < count; ++i) {
    if (!(mask >> i & 1)) continue;
    if (last.kind == Meeting::kShuffle && !(mask >> warp[i].source & 1))
      fail("a shuffle reads a lane outside the mask");
    warp[i].value = last.kind == Meeting::kBallot ? ballot : brought[warp[i].source];
    warp[i].ready = true;
  }
  arrived &= ~mask;
}

std::vector<unsigned> turns(unsigned count, uint64_t* state) {
  std::vector<unsigned> order(count);
  for (unsigned i = 0; i < count; ++i)
    order[i] = settings().order == Order::kReverse ? count - 1 - i : i;
  if (settings().order == Order::kShuffled) {
    for (unsigned i = count; i > 1; --i) std::swap(order[i - 1], order[next_random(state) % i]);
  }
  return order;
}

// The stack of thread `index`. With the thread sanitizer every block has new ones: addresses that
// are reused between blocks would hide races between blocks.
char* stack_of(size_t index) {
#if defined(SVMF_EMULATION_TSAN)
  index += device.stacks_in_use;
#endif
  while (device.stacks.size() <= index) {
    void* stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) fail("no memory for a thread's stack");
    device.stacks.push_back(static_cast<char*>(stack));
  }
#if defined(SVMF_EMULATION_ASAN)
  __asan_unpoison_memory_region(device.stacks[index], kStack);
#endif
  return device.stacks[index];
}

void start_threads(unsigned count) {
  device.threads.assign(count, Thread{});
  device.at_barrier = 0;
  device.arrived.assign(count / kWarp + 1, 0);
  for (size_t i = 0; i < count; ++i) {
    Thread& t = device.threads[i];
    t.stack = stack_of(i);
    // Tops that are shifted against each other, or all threads' frames would compete for the same
    // cache lines.
    const size_t shift = i % 64 * 576;
    make_context(&t.context, t.stack, kStack - shift, thread_main);
#if defined(SVMF_EMULATION_TSAN)
    t.fiber = __tsan_create_fiber(0);
    device.fibers.push_back(t.fiber);
#endif
  }
  device.stacks_in_use += count;
}

void run_block(uint64_t* state) {
  const unsigned count = device.launch.block.x;
  // Every bit set: an uninitialised read gives nan.
  device.shared = static_cast<char*>(std::malloc(device.launch.shared));
  std::memset(device.shared, 0xff, device.launch.shared);
  device.shared_blocks.push_back(device.shared);
  start_threads(count);
  for (size_t running = count; running > 0;) {
    bool progress = false;
    for (const unsigned i : turns(count, state)) {
      if (device.threads[i].ended || !device.threads[i].ready) continue;
      progress = true;
      to_thread(static_cast<int>(i));
      if (device.threads[i].ended) --running;
    }
    if (!progress) fail_deadlock();
  }
}

void free_launch() {
#if defined(SVMF_EMULATION_TSAN)
  __tsan_acquire(&device.launch_end);
  for (void* fiber : device.fibers) __tsan_destroy_fiber(fiber);
  device.fibers.clear();
#endif
  for (char* shared : device.shared_blocks) std::free(shared);
  device.stacks_in_use = 0;
  device.shared_blocks.clear();
}

}  // namespace

Settings& settings() {
  static Settings instance;
  return instance;
}

unsigned thread_index() { return static_cast<unsigned>(device.current); }
unsigned block_index() { return device.block; }
unsigned block_size() { return device.launch.block.x; }
unsigned grid_size() { return device.launch.grid.x; }
void* shared_memory() { return device.shared; }
unsigned lane() { return static_cast<unsigned>(device.current % kWarp); }
// One, so that small grids already walk in strides; a likely number where launches are described.
int resident_blocks() { return settings().only_report ? 8 : 1; }

// A device of compute capability 6.1.
int attribute(int which) {
  return which == cudaDevAttrComputeCapabilityMajor   ? 6
         : which == cudaDevAttrComputeCapabilityMinor ? 1
                                                      : settings().processors;
}

int shuffle_source(int source, int width, const char* file, int line) {
  Thread& t = device.threads[device.current];
  t.kind = Meeting::kShuffle;
  t.file = file;
  t.line = line;
  if (width < 1 || width > kWarp || (width & (width - 1)) != 0)
    fail("a shuffle's width must be a power of two up to 32");
  if (source < 0 || source >= kWarp) fail("a shuffle reads a lane that does not exist");
  return source;
}

uint64_t meet(Meeting kind, unsigned mask, uint64_t value, int source, const char* file, int line) {
  Thread& t = device.threads[device.current];
  t.kind = kind;
  t.mask = mask;
  t.value = value;
  t.source = source;
  t.file = file;
  t.line = line;
  t.ready = false;
  order_memory(true, kind);
  if (kind == Meeting::kSyncThreads)
    hold_block_meeting();
  else
    hold_warp_meeting();
  to_host();
  order_memory(false, kind);
  return t.value;
}

int launch(const Launch& what, const std::function<void()>& kernel) {
  const dim3 block = what.block, grid = what.grid;
  if (settings().launch_error != 0) return settings().launch_error;
  if (block.y != 1 || block.z != 1 || grid.y != 1 || grid.z != 1)
    return cudaErrorInvalidConfiguration;
  if (block.x < 1 || block.x > kMaxBlock || grid.x < 1 || grid.x > 0x7fffffffu ||
      what.shared > kMaxShared) {
    return cudaErrorInvalidConfiguration;
  }
  if (settings().only_report) {
    // The kernel as its distance from `settings`: the program may be loaded anywhere.
    const auto address = [](const void* p) { return reinterpret_cast<intptr_t>(p); };
    std::printf("launch %td %u %zu %u%s\n",
                address(what.kernel) - address(reinterpret_cast<const void*>(&settings)), block.x,
                what.shared, grid.x, what.parameters().c_str());
    return cudaSuccess;
  }
  device.launch = what;
  device.kernel = &kernel;
#if defined(SVMF_EMULATION_TSAN)
  device.host_fiber = __tsan_get_current_fiber();
  device.sync_objects.assign(2 * static_cast<size_t>(grid.x) * (block.x / kWarp + 2), 0);
#endif
  uint64_t state = settings().shuffle_seed;
  for (const unsigned b : turns(grid.x, &state)) {
    device.block = b;
    run_block(&state);
  }
  free_launch();
  return cudaSuccess;
}

}  // namespace emulation
