// SPDX-License-Identifier: MIT
// The tables in use, by a number: the kCapacity that were asked for last. For many threads, and for
// processes that fork: a table is made outside the lock, so the lock is never held for long, and a
// fork waits for it. The child finds it free and the tables whole.
#pragma once

#include <cstdint>
#include <mutex>
#if !defined(_WIN32)
#include <pthread.h>
#endif

#include "common/host_device.h"

namespace svmf {
inline namespace SVMF_ISA {

// One lock for all caches of this instruction set, so that one set of handlers serves fork.
class TableLock {
 public:
  TableLock() { mutex_.lock(); }
  ~TableLock() { mutex_.unlock(); }
  TableLock(const TableLock&) = delete;
  TableLock& operator=(const TableLock&) = delete;

  // When the module is loaded: a fork that has begun knows nothing of handlers that come later.
  static void let_forks_wait() {
#if !defined(_WIN32)
    static const auto unlock = [] { mutex_.unlock(); };
    [[maybe_unused]] static const int once = pthread_atfork([] { mutex_.lock(); }, unlock, unlock);
#endif
  }

 private:
  static inline std::mutex mutex_;
};

template <class Table, int kCapacity>
class TableCache {
 public:
  // The table of `number` > 0, kept or just made by make(number). Threads that ask for the same new
  // table at the same time each make it.
  template <class Make>
  Table get(int64_t number, Make make) {
    Table table;
    if (!find(number, &table)) {
      table = make(number);
      keep(number, table);
    }
    return table;
  }

 private:
  struct Entry {
    int64_t number = 0;
    uint64_t last_use = 0;
    Table table{};
  };

  bool find(int64_t number, Table* table) {
    const TableLock lock;
    for (Entry& entry : entries_) {
      if (entry.number != number) continue;
      entry.last_use = ++clock_;
      *table = entry.table;
      return true;
    }
    return false;
  }

  void keep(int64_t number, const Table& table) {
    const TableLock lock;
    Entry* oldest = entries_;
    for (Entry& entry : entries_) {
      if (entry.number == number) return;
      if (entry.last_use < oldest->last_use) oldest = &entry;
    }
    *oldest = {number, ++clock_, table};
  }

  uint64_t clock_ = 0;
  Entry entries_[kCapacity] = {};
};

}  // namespace SVMF_ISA
}  // namespace svmf
