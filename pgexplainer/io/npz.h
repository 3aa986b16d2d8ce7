// NumPy's .npz: a zip of .npy arrays (numpy.org, "NPY format", versions 1.0 to 3.0). Reading and
// writing of numbers only; nothing is unpickled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "pgexplainer/core/array.h"
#include "pgexplainer/core/matrix.h"
#include "pgexplainer/io/zip_writer.h"

namespace pgexplainer {

/// An array in C order, little-endian.
struct NpyArray {
  std::string dtype;                ///< as NumPy spells it: "<f4" "<f8" "<i8" "<i4" "|b1" "|u1" ...
  std::vector<std::int64_t> shape;  ///< () for a scalar
  Array<std::byte> data;
  bool mapped = false;  ///< the data are those of the file, not a copy

  [[nodiscard]] std::int64_t size() const;  ///< number of entries

  /// T is float, double, int32, int64 or uint8; the shape must have as many entries as values. The
  /// array refers to the values, which must outlive it.
  template <class T>
  static NpyArray refer(std::span<const T> values, std::vector<std::int64_t> shape);
  template <class T>
  static NpyArray refer(const std::vector<T>& values) {
    return refer(std::span<const T>(values), {static_cast<std::int64_t>(values.size())});
  }
  template <class T>
  static NpyArray refer(const Array<T>& values) {
    return refer(std::span<const T>(values), {static_cast<std::int64_t>(values.size())});
  }
  template <class T>
  static NpyArray refer(const Matrix<T>& values) {
    return refer(std::span<const T>(values.data(), static_cast<std::size_t>(values.size())),
                 {values.rows(), values.cols()});
  }
  /// 0 and 1 as NumPy's bool.
  static NpyArray refer_mask(const std::vector<std::uint8_t>& values);

  /// The same with a copy of the values.
  template <class T>
  static NpyArray from(std::span<const T> values, std::vector<std::int64_t> shape);
  template <class T>
  static NpyArray from(const std::vector<T>& values) {
    return from(std::span<const T>(values), {static_cast<std::int64_t>(values.size())});
  }
  template <class T>
  static NpyArray from(const Matrix<T>& values) {
    return from(std::span<const T>(values.data(), static_cast<std::size_t>(values.size())),
                {values.rows(), values.cols()});
  }
  template <class T>
  static NpyArray from_scalar(T value) {
    return from(std::span<const T>(&value, 1), {});
  }
  static NpyArray from_mask(const std::vector<std::uint8_t>& values);
  /// A list of texts (UTF-8) as NumPy's '<U'.
  static NpyArray from_texts(const std::vector<std::string>& texts);
};

/// The arrays of one file. The getters convert numbers to T (float, double, int32, int64, uint8)
/// and throw, naming the file and the array, when it is missing, has another number of dimensions,
/// or does not fit T: fractions never become integers, and integers never wrap around.
class NpzArrays {
 public:
  NpzArrays(std::filesystem::path path, std::map<std::string, NpyArray> arrays)
      : path_(std::move(path)), arrays_(std::move(arrays)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool contains(const std::string& name) const { return arrays_.contains(name); }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const NpyArray& array(const std::string& name) const;
  [[nodiscard]] const std::vector<std::int64_t>& shape(const std::string& name) const {
    return array(name).shape;
  }

  /// All entries in C order, whatever the shape.
  template <class T>
  [[nodiscard]] std::vector<T> vector(const std::string& name) const;
  /// The same without a copy where the file is mapped and holds just this type.
  template <class T>
  [[nodiscard]] Array<T> shared(const std::string& name) const;
  template <class T>
  [[nodiscard]] Matrix<T> matrix(const std::string& name) const;
  template <class T>
  [[nodiscard]] T scalar(const std::string& name) const;
  /// As vector, but throws unless the array has one dimension.
  template <class T>
  [[nodiscard]] std::vector<T> list(const std::string& name) const;
  /// A list of zeros and ones (bool or whole numbers).
  [[nodiscard]] std::vector<std::uint8_t> mask(const std::string& name) const;
  /// A list of texts, as UTF-8.
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;

 private:
  void expect_dimensions(const std::string& name, std::size_t dimensions) const;

  std::filesystem::path path_;
  std::map<std::string, NpyArray> arrays_;
};

/// Throws when the file is not a readable, whole .npz of plain little-endian arrays in C order.
/// Arrays that are stored uncompressed and aligned, as we write them, are mapped, not copied: see
/// map_file_bytes in file_bytes.h. Checksums are compared in either case.
NpzArrays read_npz(const std::filesystem::path& path);

/// Writes arrays one after another from where they lie, uncompressed, the numbers aligned to
/// kNpzAlignment bytes in the file; the same arrays give the same bytes.
class NpzArrayWriter {
 public:
  explicit NpzArrayWriter(const std::filesystem::path& path) : zip_(path) {}

  void add(const std::string& name, const NpyArray& array);
  /// Arrays of one type and shape become the rows of one, as by numpy.stack.
  void add_stacked(const std::string& name, std::span<const NpyArray> rows);
  void commit() { zip_.commit(); }

 private:
  void add(const std::string& name, const std::string& dtype,
           const std::vector<std::int64_t>& shape, std::span<const NpyArray> parts);

  ZipWriter zip_;
};
inline constexpr std::size_t kNpzAlignment = 64;

void write_npz(const std::filesystem::path& path, const std::map<std::string, NpyArray>& arrays);

/// "(2, 5)", as Python prints it.
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace pgexplainer
