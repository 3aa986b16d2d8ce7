// The records of a zip archive (PKWARE APPNOTE): their marks, their lengths without names and extra
// fields, and the numbers that both the writer and the search for stored entries know.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgexplainer::zip_format {

inline constexpr std::uint32_t kLocalMark = 0x04034B50;
inline constexpr std::uint32_t kCentralMark = 0x02014B50;
inline constexpr std::uint32_t kEndMark = 0x06054B50;
inline constexpr std::uint32_t kEnd64Mark = 0x06064B50;
inline constexpr std::uint32_t kLocatorMark = 0x07064B50;

inline constexpr std::size_t kLocalHeader = 30;
inline constexpr std::size_t kCentralHeader = 46;
inline constexpr std::size_t kEnd = 22;
inline constexpr std::size_t kEnd64 = 56;
inline constexpr std::size_t kLocator = 20;

inline constexpr std::uint16_t kStored = 0;         // method: not compressed
inline constexpr std::uint16_t kZip64Field = 1;     // extra field with 64-bit numbers
inline constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // the number is in the ZIP64 field

}  // namespace pgexplainer::zip_format
