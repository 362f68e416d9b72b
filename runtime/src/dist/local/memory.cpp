// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace hvd::dist {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("shared memory: " + what + ": " + std::strerror(errno));
}

std::size_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

File::~File() {
  if (fd_ >= 0) close(fd_);
}

File File::memory(const char* name, std::size_t bytes) {
  File file(memfd_create(name, MFD_CLOEXEC));
  if (!file) fail("memfd_create");
  if (bytes && ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) fail(std::to_string(bytes) + " bytes");
  return file;
}

File File::of_process(int pid, int fd) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  File file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) fail("cannot open the memory of process " + std::to_string(pid) + " (" + path + ")");
  return file;
}

Mapping::Mapping(const File& file, std::size_t bytes, std::size_t offset, std::size_t pages_behind)
    : bytes_(bytes), behind_(pages_behind * whole_pages(1)) {
  void* place = mmap(nullptr, bytes + behind_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) fail("no addresses for " + std::to_string(bytes) + " bytes");
  void* memory = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), static_cast<off_t>(offset));
  if (memory == MAP_FAILED) {
    const int why = errno;
    munmap(place, bytes + behind_);
    errno = why;
    fail("cannot map " + std::to_string(bytes) + " bytes");
  }
  data_ = static_cast<char*>(memory);
}

Mapping::~Mapping() {
  if (data_) munmap(data_, bytes_ + behind_);
}

Heap::Heap() : file_(File::memory("hvd-heap", 0)) {}

std::shared_ptr<char> Heap::allocate(const std::shared_ptr<Heap>& heap, std::size_t bytes) {
  const std::size_t length = whole_pages(bytes ? bytes : 1);
  std::lock_guard lock(heap->mutex_);
  const std::uint64_t offset = heap->end_;
  if (ftruncate(heap->file_.get(), static_cast<off_t>(offset + length)) != 0) fail(std::to_string(length) + " bytes");
  // Taken now, so that a lack of memory is an error here and not a signal at the first write.
  do errno = posix_fallocate(heap->file_.get(), static_cast<off_t>(offset), static_cast<off_t>(length));
  while (errno == EINTR);
  if (errno) fail("no memory for " + std::to_string(length) + " bytes");
  Mapping memory(heap->file_, length, offset);
  heap->end_ = offset + length;
  char* address = memory.data();
  heap->blocks_.emplace(address, Block{std::move(memory), offset});
  return {address, [heap](char* p) { heap->release(p); }};
}

void Heap::release(const char* address) {
  std::lock_guard lock(mutex_);
  const auto block = blocks_.find(address);
  // Other ranks may still have it mapped: the pages go nevertheless.
  const int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  [[maybe_unused]] const int kept =  // should this fail, they stay until the end of the job
      fallocate(file_.get(), punch, static_cast<off_t>(block->second.offset), static_cast<off_t>(block->second.memory.bytes()));
  blocks_.erase(block);
}

HeapAddress Heap::find(const void* data, std::size_t bytes) const {
  const char* p = static_cast<const char*>(data);
  std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(p);
  if (after == blocks_.begin()) return {};
  const auto& [address, block] = *--after;
  const auto offset = static_cast<std::uint64_t>(p - address);
  if (offset + bytes > block.memory.bytes()) return {};
  return {block.offset, block.memory.bytes(), offset};
}

std::shared_ptr<char> PeerHeap::at(const HeapAddress& address) {
  constexpr std::size_t kKept = 256;  // blocks come and go: those that are gone cost address space only
  std::lock_guard lock(mutex_);
  auto found = blocks_.find(address.block);
  if (found == blocks_.end()) {
    if (blocks_.size() >= kKept) blocks_.erase(blocks_.begin());
    found = blocks_.emplace(address.block, std::make_shared<Mapping>(file_, address.length, address.block, pages_behind_)).first;
  }
  return {found->second, found->second->data() + address.offset};
}

}  // namespace hvd::dist
