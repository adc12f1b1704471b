// Package storetest says in code what session.Store promises. Run holds any implementation to it; Memory is the simplest one that
// keeps it, for the tests above the store.
package storetest
