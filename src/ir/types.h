#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ir/ids.h"
#include "tensor/dtype.h"

namespace assay::ir {

enum class TypeKind : uint8_t { tensor, sparse_tensor, sequence, optional, map, opaque };

// The type of a value. The kind decides which members count.
struct Type {
  TypeKind kind = TypeKind::tensor;
  tensor::DType dtype = tensor::DType::undefined;  // element type of tensors, key type of maps
  bool ranked = false;                             // false: dims are not known at all
  std::vector<DimId> dims;
  TypeId element;          // of sequences, optionals and maps
  Symbol domain = kEmpty;  // of opaque types
  Symbol name = kEmpty;    // of opaque types
  Symbol denotation = kEmpty;
  friend auto operator<=>(const Type&, const Type&) = default;
};

// Interned types of a model.
class TypeTable {
 public:
  TypeTable() = default;
  TypeTable(const TypeTable& other);
  TypeTable& operator=(const TypeTable& other) { return *this = TypeTable(other); }
  TypeTable(TypeTable&&) = default;
  TypeTable& operator=(TypeTable&&) = default;

  TypeId intern(Type type);
  TypeId tensor(tensor::DType dtype, std::vector<DimId> dims);
  TypeId unranked_tensor(tensor::DType dtype);
  const Type& operator[](TypeId id) const { return *types_[id.index]; }
  uint32_t size() const { return static_cast<uint32_t>(types_.size()); }

  // True if every value of type `a` is of type `b` too: `a` is equal or says more.
  bool refines(TypeId a, TypeId b) const;

 private:
  std::map<Type, TypeId> ids_;
  std::vector<const Type*> types_;
};

}  // namespace assay::ir
