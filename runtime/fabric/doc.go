// Package fabric knows what joins the devices of a host: the link of each pair, the kind of fabric that the links make
// up, and which programs run on it.
package fabric
