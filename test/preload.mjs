// Runs before every test file.
// Node.js strips types in place, so lines are right without maps. Those of packages took a sixth of a service test's time.
process.setSourceMapsEnabled(false)
// More listeners than usual are a leak, or a part of the code that has not said how many it needs.
process.on('warning', (warning) => {
  if (warning.name === 'MaxListenersExceededWarning') throw warning
})
