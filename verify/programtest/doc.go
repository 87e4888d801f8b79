// Package programtest tests a generated package in the seeded simulator. The test that
// ovgen emits beside each package calls it, and the test of all of them.
package programtest
