// Package inject disturbs the driver calls of a rank: it delays, fails or kills
// at chosen or random calls. A Filter sits between the runtime and its driver.
package inject
