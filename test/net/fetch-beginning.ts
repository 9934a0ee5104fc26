/** An address asked, and the beginning of its answer. */
import { beginningOf, openUrl } from '../../src/net/fetch.ts'

type Asked = Parameters<typeof openUrl>[1] & { readonly maxBytes: number }

export async function fetchBeginning(url: string | URL, { maxBytes, ...asked }: Asked) {
  const { status, headers, body } = await openUrl(url, asked)
  return { status, headers, body: await beginningOf(body, { bytes: maxBytes }) }
}
