/** What a version of the reference has that the one before had not, and what it has otherwise. */
import type { DeclaredParameter } from './declarations.ts'

type Methods = ReadonlyMap<string, readonly DeclaredParameter[]>

/** One line for each method or parameter that came, went or changed. */
export function difference(before: Methods, after: Methods): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  return names.flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)]
    if (!was) return [`+ ${name}(${is?.map(word).join(' ')})`]
    return is ? changes(name, was, is) : [`- ${name}`]
  })
}

function changes(
  method: string,
  was: readonly DeclaredParameter[],
  is: readonly DeclaredParameter[],
): string[] {
  const old = new Map(was.map((one) => [one.name, word(one)]))
  const current = new Map(is.map((one) => [one.name, word(one)]))
  return [
    ...[...current].filter(([name]) => !old.has(name)).map(([, is]) => `+ ${method}.${is}`),
    ...[...old].filter(([name]) => !current.has(name)).map(([name]) => `- ${method}.${name}`),
    ...[...current]
      .filter(([name, is]) => old.has(name) && old.get(name) !== is)
      .map(([name, is]) => `~ ${method}.${old.get(name)} is ${is}`),
  ]
}

/** A parameter as the table writes it. */
export const word = ({ name, type, required }: DeclaredParameter): string =>
  `${name}:${type}${required ? '!' : ''}`
