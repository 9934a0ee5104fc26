/** Places of a sandbox where an account and its peer meet, for harnesses with a sandbox behind their network. */
import type { Media } from '../../../machines/model/media.ts'
import type { Network } from '../../../src/sandbox/sandbox.ts'
import type { ContractHarness } from '../contract/harness.ts'

/** `sticker` makes a file for a set. */
export function placesIn(
  sandbox: Network,
  sticker: () => Promise<Media>,
): Required<Pick<ContractHarness, 'group' | 'forum' | 'stickerSet'>> {
  const create = async (title: string, owner: string, member: string, isForum = false) => {
    const members = [Number(member)]
    const group = { kind: 'supergroup', title, owner: Number(owner), members } as const
    const { chat } = await sandbox.chats.create({ ...group, ...(isForum && { isForum }) })
    return chat.native
  }
  return {
    group: ({ native }, peer) => create('Group', native, peer.chat),
    async forum({ native }, peer) {
      const chat = await create('Forum', native, peer.chat, true)
      const write = async (text: string, topic: string) => {
        const message = { to: Number(chat), text, topic: Number(topic) }
        await sandbox.actions.write(Number(peer.chat), message)
      }
      return { chat, write }
    },
    async stickerSet() {
      const name = `set_${crypto.randomUUID().slice(0, 8)}`
      const stickers = [{ ...(await sticker()), emoji: '🙂' }]
      await sandbox.stickerSets.create({ name, title: 'Set', stickers })
      return name
    },
  }
}
