// Package fabric knows how the devices of a host are joined: the link of each pair, the kind of fabric that the links
// make up, and which programs run on it.
package fabric
