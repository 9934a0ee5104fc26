/** How people are named to the network, where the library's memory of them is mistaken. */
import type { IPeersRepository } from '@mtcute/core'
import { longFromFastString } from '@mtcute/core/utils.js'
import type { tl } from '@mtcute/node'
import type { Client } from './client.ts'

/**
 * The library keeps channels under the numbers of people, and takes over the number by which a person seen briefly can
 * not be named: what it is told of the person counts, then what is stored, then where they have written.
 */
export function namePeopleRightly(client: Client, stored: IPeersRepository): void {
  const { peers, refMsgs } = client.storage
  const getById = peers.getById.bind(peers)
  const getCompleteById = peers.getCompleteById.bind(peers)

  peers.getCompleteById = async (id, allowMin) => {
    const found = await getCompleteById(id, allowMin)
    return id > 0 && found && !isPerson(found) ? null : found
  }

  peers.getById = async (id, allowRefs = true) => {
    if (id < 0) return getById(id, allowRefs)
    const person = await getCompleteById(id, true)
    if (person?._ === 'user' && !person.min && person.accessHash) {
      return { _: 'inputPeerUser', userId: id, accessHash: person.accessHash }
    }
    const kept = await stored.getById(id)
    if (kept && !kept.isMin) {
      return { _: 'inputPeerUser', userId: id, accessHash: longFromFastString(kept.accessHash) }
    }
    const [chat, msgId] = (allowRefs && (await refMsgs.getForPeer(id))) || []
    const peer = chat === undefined ? null : await getById(chat, false)
    if (!peer || msgId === undefined) return null
    return { _: 'inputPeerUserFromMessage', peer, msgId, userId: id }
  }
}

const isPerson = ({ _ }: tl.TypeUser | tl.TypeChat) => _ === 'user' || _ === 'userEmpty'
