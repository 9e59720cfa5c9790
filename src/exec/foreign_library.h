#pragma once

#include <map>
#include <mutex>

#include "base/error.h"
#include "base/foreign_code.h"
#include "base/shared_library.h"
#include "exec/library_search.h"

namespace assay::exec {

// Opens the found library, or one that the system's loader finds. Error (backend) that says how to get the library.
SharedLibrary open_library(const LibraryKind& kind, const FoundLibrary& found);

// Libraries that were opened, one for each file, for as long as the process lives. `Library` is made of the opened file
// and checks it: Error (backend) if it is not what it should be.
template <typename Library>
const Library& opened_library(const LibraryKind& kind, const LibrarySearch& search) {
  static std::mutex mutex;
  static auto& libraries = *new std::map<std::filesystem::path, const Library*>();
  const FoundLibrary found = find_library(kind, search);
  const std::scoped_lock lock(mutex);
  const Library*& library = libraries[found.path];
  const ForeignCode code(kind.title);
  if (library == nullptr) library = new Library(open_library(kind, found));
  return *library;
}

// The address of a symbol that every library of the kind has. Error (backend): this one has it not.
void* find_symbol(const LibraryKind& kind, const SharedLibrary& library, const char* name);
// Sets a pointer to such a function.
template <typename Function>
void load_function(const LibraryKind& kind, const SharedLibrary& library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(find_symbol(kind, library, name));
}

// Opens the library as above; null with a reason if the library cannot be used.
template <typename Library>
const Library* find_opened_library(const LibraryKind& kind, const LibrarySearch& search, std::string& reason) {
  try {
    return &opened_library<Library>(kind, search);
  } catch (const Error& error) {
    reason = error.line();
    return nullptr;
  }
}

// A backend on such a library, which has kind(), get(search), version() and path().
template <typename Library>
class LibraryBackend : public Backend {
 public:
  FoundLibrary library(const LibrarySearch& search) const override { return find_library(Library::kind(), search); }

  Probe probe(const LibrarySearch& search) const override {
    Probe probe;
    probe.tried = library(search).tried;
    try {
      const Library& opened = Library::get(search);
      probe.version = opened.version();
      probe.path = opened.path().string();
      probe.providers = providers(opened);
      probe.usable = true;
    } catch (const Error& error) {
      probe.version = error.line();
    }
    return probe;
  }

  // The library judges a model as a whole and stops at the first fault.
  std::vector<Refusal> refusals(const ir::Model& model, const LibrarySearch& search) const override {
    return refusals_of_preparing(*this, *this, model, search);
  }

 private:
  virtual std::vector<std::string> providers(const Library&) const { return {}; }
};

}  // namespace assay::exec
