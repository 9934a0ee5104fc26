/** Links that may stand for a file. */

/** The link becomes a part of the file's public id. */
const longestLink = 1_500

export function isLink(link: string | undefined): link is string {
  if (!link || link.length > longestLink || !URL.canParse(link)) return false
  return /^https?:$/.test(new URL(link).protocol)
}
