/** The number of the running iteration, as far as the script asks for it. */
export default { scenario: { iterationInTest: -1 } }
