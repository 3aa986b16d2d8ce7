// The motifs of mutagenic molecules (the paper, section 5.1): the bonds inside NO2 and NH2 groups.
//
// The rule, from atoms and bonds alone: a nitrogen with exactly three neighbours, two of them
// terminal oxygens (nitro) or two of them terminal hydrogens (primary amine), the third neither
// oxygen nor hydrogen. So nitrate esters (O-NO2), hydroxylamines (O-NH2), nitrites (O-N=O) and
// ammonia are not groups, while nitramines (N-NO2), sulfonamides (S-NH2) and the nitronate form
// (C=NO2, both N-O single) are: the type of a bond does not matter, which keeps the rule the same
// however a file draws the charges of a nitro group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/graph/graph.h"

namespace pgexplainer {

/// Atom types of the TU Mutagenicity files, by number.
inline constexpr const char* kMutagenicityAtoms[] = {"C", "O", "Cl", "H",  "N", "F",  "Br",
                                                     "S", "P", "I",  "Na", "K", "Li", "Ca"};

/// Per edge: 1 for the two N-O or N-H bonds of such a group, both directions. Bonds are listed in
/// both directions; atom_type numbers kMutagenicityAtoms, one per node.
std::vector<std::uint8_t> nitro_amine_motifs(const Graph& graph,
                                             std::span<const std::int64_t> atom_type);

}  // namespace pgexplainer
