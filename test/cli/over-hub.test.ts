// The stories of the command line, through a hub: the same files, with boxes that get an address and a token.
import '../helpers/over-hub.ts'
import './story.test.ts'
