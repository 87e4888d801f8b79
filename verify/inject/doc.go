// Package inject disturbs the driver calls of a rank: it delays calls, makes them fail, or kills the process, at chosen
// or random calls. A Filter sits between the runtime and its driver.
package inject
