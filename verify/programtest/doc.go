// Package programtest tests a generated package in the seeded simulator. The test that ovgen emits beside each package
// calls it, and so does the test of all packages.
package programtest
