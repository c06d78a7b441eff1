/** Rows that are read once. */
export const SharedArray = function (_name, read) {
  return read()
}
