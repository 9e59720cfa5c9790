// Sizes of open groups, in the units of the picture.

export const HEADER = 26;
export const PADDING = 14;
