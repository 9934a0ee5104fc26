/** Asks who is signed in as soon as this little script has come, while the rest of the panel is on its way. */
import { startSession } from './api/session.ts'

startSession()
