/** What others think of messages, and how they vote, is reported. */
import type { Test } from 'tap'
import type { Happening } from '../../../machines/model/happening.ts'
import type { ContractHarness } from './harness.ts'
import { samplePoll, sentContent } from './message-operations.ts'
import { patience, type Store } from './recorder.ts'
import { able, need, scene, sent, words } from './scene.ts'

export async function opinionContract(t: Test, harness: ContractHarness) {
  const { updates } = harness.platform.capabilities

  if (updates.includes('message_reaction')) {
    await able(t, harness, ['peerOpinions'], 'a reaction, and its end', async (t) => {
      const { first, peer, store } = await scene(t, harness)
      const text = words('like this')
      const { native } = await sent(first, peer.chat, text)
      const seen = await peer.sees(text, patience())
      const react = need(peer.react, 'peerOpinions').bind(peer)
      await react(seen, '👍')
      const about = { direction: 'incoming', chat: { native: peer.chat }, target: native }
      const liked = { ...about, before: [], after: [{ emoji: '👍' }] }
      t.match(await nth(store, 'reaction', 1), liked)
      await react(seen)
      t.match(await nth(store, 'reaction', 2), { before: [{ emoji: '👍' }], after: { length: 0 } })
    })
  }

  if (updates.includes('poll_answer')) {
    await able(t, harness, ['peerContent', 'peerVotes'], 'a vote, and its end', async (t) => {
      const { first, peer, store } = await scene(t, harness)
      if (samplePoll.kind !== 'poll') return
      const poll = { ...samplePoll.poll, isAnonymous: false }
      const { content } = await sentContent(first, peer.chat, { kind: 'poll', poll })
      const id = content.kind === 'poll' ? content.poll.id : undefined
      const [seen] = await need(peer.seesKind, 'peerContent').call(peer, 'poll', patience())
      const vote = need(peer.vote, 'peerVotes').bind(peer)
      await vote(seen!, [1])
      t.match(await nth(store, 'poll_answer', 1), { poll: id, options: [1] })
      t.match(await nth(store, 'poll', 1), {
        poll: { id, voters: 1, options: [{ voters: 0 }, { voters: 1 }] },
      })
      await vote(seen!, [])
      t.match(await nth(store, 'poll_answer', 2), { poll: id, options: { length: 0 } })
      t.match(await nth(store, 'poll', 2), { poll: { id, voters: 0 } })
    })
  }
}

const nth = (store: Store, kind: Happening['kind'], count: number) =>
  store.until(() => store.happenings.filter((happening) => happening.kind === kind)[count - 1])
