/** tap reporter: a line for each file, then every failure in full, and the totals as the last line. */
import { Transform, type TransformCallback } from 'node:stream'
import { Parser, type Result } from 'tap-parser'
import { describeFailure } from './reporter/failure.ts'

/** A test that is still open; one with tests inside it is a group. */
interface OpenTest {
  readonly name: string
  readonly before: { readonly failures: number; readonly failed: number }
  isGroup: boolean
}

type Verdict = 'passed' | 'failed' | 'skipped'

function judge(result: Result): Verdict {
  if (result.skip || result.todo) return 'skipped'
  return result.ok ? 'passed' : 'failed'
}

export default class Reporter extends Transform {
  readonly #parser = new Parser()
  readonly #startedAt = performance.now()
  readonly #count: Record<Verdict, number> = { passed: 0, failed: 0, skipped: 0 }
  readonly #failures: string[] = []

  constructor() {
    super()
    this.#watch(this.#parser, [])
    this.#parser.on('bailout', (reason: string) => this.#fail(`Bail out! ${reason}`))
  }

  /** `path` names the tests around; it is empty where each result is a file. */
  #watch(parser: Parser, path: readonly string[]): void {
    let open: OpenTest | undefined
    parser.on('child', (child: Parser) => {
      const test: OpenTest = {
        name: child.name,
        before: { failures: this.#failures.length, failed: this.#count.failed },
        isGroup: false,
      }
      open = test
      child.on('child', () => {
        test.isGroup = true
      })
      this.#watch(child, [...path, child.name])
    })
    parser.on('assert', (result: Result) => {
      const test = open?.name === result.name ? open : undefined
      open = undefined
      this.#settle(result, path, test)
    })
  }

  #settle(result: Result, path: readonly string[], test: OpenTest | undefined): void {
    const verdict = judge(result)
    const isFile = path.length === 0
    if (result.name.endsWith('.test.ts'))
      this.#line(`${verdict.padEnd(7)} ${result.name} (${Math.round(result.time ?? 0)} ms)`)
    const isExplained = test !== undefined && this.#failures.length > test.before.failures
    if (verdict === 'failed' && !isExplained) {
      this.#failures.push(`${[...path, result.name].join(' > ')}${describeFailure(result)}`)
    }
    if (this.#counts(verdict, isFile, test)) this.#count[verdict]++
  }

  /** Assertions are not counted, and a group is not, unless it failed although its tests did not. */
  #counts(verdict: Verdict, isFile: boolean, test: OpenTest | undefined): boolean {
    if (test?.isGroup) return verdict === 'failed' && this.#count.failed === test.before.failed
    return test !== undefined || isFile || verdict === 'skipped'
  }

  #fail(reason: string): void {
    this.#count.failed++
    this.#failures.push(reason)
  }

  #line(text: string): void {
    this.push(`${text}\n`)
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#parser.write(chunk)
    done()
  }

  override _flush(done: TransformCallback): void {
    this.#parser.once('complete', ({ ok }: { ok: boolean }) => {
      // Whatever went wrong outside of every test must not end in a green line.
      if (!ok && this.#count.failed === 0) this.#fail('The run failed outside of a test')
      for (const failure of this.#failures) this.#line(`\nnot ok: ${failure}`)
      const { passed, failed, skipped } = this.#count
      this.#line(`\nin ${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s`)
      this.#line(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
      done()
    })
    this.#parser.end()
  }
}
