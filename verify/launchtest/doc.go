// Package launchtest lets tests follow the processes of ranks. Each process leaves a
// note in a folder that its test has made.
package launchtest
