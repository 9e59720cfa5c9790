// Sizes of open groups, in the units of the picture.

export const HEADER = 26;
export const PADDING = 14;

/** Nodes are at least as wide, so that an operator and a number fit. */
export const LEAST_NODE = 116;
