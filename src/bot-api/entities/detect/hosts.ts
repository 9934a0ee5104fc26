/** Whether the name in a URL can be a host: an IPv4 address or a domain under a known top level. */
import { topLevelDomains } from '../tlds.ts'

const maxLabelBytes = 63

export function isHost(name: string, hasProtocol: boolean): boolean {
  const labels = name.split('.')
  if (labels.length < 2 || !labels.every(isLabel)) return false
  if (labels.every((label) => /^\d+$/.test(label))) return labels.length === 4 && isIpv4(labels)
  const [parent, top] = labels.slice(-2)
  return !parent!.includes('_') && isTopLevel(top!, hasProtocol)
}

const isLabel = (label: string): boolean =>
  label !== '' && !label.endsWith('-') && Buffer.byteLength(label) <= maxLabelBytes

const isIpv4 = (labels: readonly string[]): boolean =>
  labels.every((label) => /^(?:0|[1-9]\d{0,2})$/.test(label) && Number(label) <= 255)

function isTopLevel(label: string, hasProtocol: boolean): boolean {
  if (/^xn--/.test(label)) return /^xn--[A-Za-z\d]{2,}$/.test(label)
  if (Array.from(label).length < 2 || /[_-]/.test(label)) return false
  return hasProtocol || isCommon(label)
}

/** In `end.So` a sentence begins rather than a top level: one capital, and that the first letter. */
function isCommon(label: string): boolean {
  const lower = label.toLowerCase()
  const isSentence = label !== lower && label.slice(1) === lower.slice(1)
  return !isSentence && (topLevelDomains.has(lower) || hiddenTopLevels.has(lower))
}

/** Resolved by networks of their own, outside the DNS. */
const hiddenTopLevels = new Set(['onion', 'ton'])
