// Bad input must be refused with words that help.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pgexplainer/core/error.h"

namespace pgexplainer {

/// The action throws an Error for bad input whose message contains all of these.
template <class Action>
void expect_bad_input(const Action& action, const std::vector<std::string>& parts) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown; expected words about " << parts.front();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::bad_input);
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << error.what() << "' does not say '" << part << "'";
  }
}

}  // namespace pgexplainer
