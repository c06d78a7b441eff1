// The operator's console.
