/** A key of its own that is told everything, one update after the other. */
import { UPDATE_KINDS } from '../../machines/model/update-kinds.ts'
import { type Client, until } from '../support/client.ts'

export type Update = Readonly<Record<string, ReturnType<typeof JSON.parse>>> & {
  readonly update_id: number
}

export async function poller(client: Client, credentialId: number) {
  const { key } = await client.key(credentialId)
  let offset = 0
  const ask = async (parameters: object): Promise<Update[]> => {
    const { body } = await client.bot(key, 'getUpdates', { offset, ...parameters })
    if (!body.ok) throw new Error(`getUpdates: ${JSON.stringify(body)}`)
    return body.result
  }
  await ask({ allowed_updates: UPDATE_KINDS })
  return {
    key: key as string,
    /** The next update, confirmed. */
    next: () =>
      until(async () => {
        const [update] = await ask({ timeout: 10, limit: 1 })
        if (update) offset = update.update_id + 1
        return update
      }, 60_000),
  }
}
