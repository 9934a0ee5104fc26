/** Files that people share as links (XEP-0066), with what they tell of them (XEP-0447), read as what they are. */
import type { Element } from '@xmpp/client'
import type { Content } from '../../../../machines/model/content.ts'
import { ns } from '../namespaces.ts'
import { readStyled } from '../styling/read.ts'
import { readFacts } from './facts.ts'
import { kindByName, kindByType } from './kinds.ts'
import { isLink, nameInLink } from './links.ts'

/** `text`: the body of the message, which repeats the link for clients that know nothing else. */
export function sharedFile(message: Element, text: string | undefined): Content | undefined {
  const sharing = message.getChild('file-sharing', ns.fileSharing)
  const link =
    message.getChild('x', ns.outOfBand)?.getChildText('url')?.trim() ??
    sharing?.getChild('sources')?.getChild('url-data', ns.urlData)?.attrs.target
  if (!isLink(link)) return undefined
  const { pathname } = new URL(link)
  const facts = readFacts(sharing)
  const name = facts.name ?? nameInLink(link)
  const kind =
    sharing?.attrs.disposition === 'attachment'
      ? 'document'
      : facts.mime === undefined
        ? kindByName(pathname)
        : kindByType(facts.mime)
  const caption = text?.replace(link, '').trim() ?? ''
  const isPlain = message.getChild('unstyled', ns.styling) !== undefined
  return {
    kind: 'media',
    media: { kind, file: { native: link }, ...(name && { name }), ...facts },
    caption: isPlain ? { text: caption, entities: [] } : readStyled(caption),
  }
}
