// Package conduittest holds what tests of conduits share: Run, the conformance suite that every Renderer and Poster passes against
// its platform's simulator; Platform, a chat platform in memory; and Writer, which writes a thread's log as a Stream would.
//
// Everything here runs in synctest bubbles, so that an hour of back-off takes no time and a goroutine left behind fails the test.
package conduittest
