// npm run release -- 0.2.0 [--dry-run]: makes a release from the last commit, ready to be pushed and published.
// Everything happens in a worktree of its own. Nothing is pushed or published; a dry run leaves nothing behind.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { maxPackedBytes, pack, tryPackage } from './package-check.mjs'
import { root } from './run.mjs'

const words = process.argv.slice(2)
const isDry = words.includes('--dry-run')
const [version, ...more] = words.filter((word) => !word.startsWith('--'))

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

function fail(message, hint) {
  console.error(`release: ${message}\n${hint}`)
  process.exit(1)
}

function step(name) {
  console.log(`== ${name}`)
}

/** Replaces the one place where `from` stands in a file. */
function edit(file, from, to) {
  const text = readFileSync(file, 'utf8')
  if (!from.test(text)) throw new Error(`${file} has no ${from}`)
  writeFileSync(file, text.replace(from, to))
}

if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? '') || more.length > 0)
  fail('no version given', 'Usage: npm run release -- 0.2.0 [--dry-run]')
const tag = `v${version}`
if (git('status', '--porcelain') !== '') fail('the working tree has changes', 'Commit or stash them first.')
if (git('tag', '--list', tag) !== '') fail(`the tag ${tag} exists`, 'Choose the next version.')

const commit = git('rev-parse', 'HEAD')
const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
const temp = mkdtempSync(join(tmpdir(), 'mailbox-release-'))
const tree = join(temp, 'tree')
const inTree = (...args) => execFileSync('git', args, { cwd: tree, encoding: 'utf8' }).trim()

try {
  step(`version ${version}, from ${commit.slice(0, 9)}`)
  git('worktree', 'add', '--quiet', '--detach', tree, commit)
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  const today = new Date().toISOString().slice(0, 10)
  edit(join(tree, 'CHANGELOG.md'), /^## Unreleased$/m, `## ${version} (${today})`)
  edit(join(tree, 'package.json'), /^ {2}"version": "[^"]+"/m, `  "version": "${version}"`)
  // The lock names the version twice: of the whole, and of its root package.
  edit(join(tree, 'package-lock.json'), /^ {2}"version": "[^"]+"/m, `  "version": "${version}"`)
  edit(join(tree, 'package-lock.json'), /^ {6}"version": "[^"]+"/m, `      "version": "${version}"`)

  step('build')
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: tree, stdio: 'inherit' })
  const lock = readFileSync(join(tree, 'package-lock.json'))
  const provenance = {
    ...{ version, commit, node: process.version, platform: `${process.platform}-${process.arch}` },
    lockfileSha256: createHash('sha256').update(lock).digest('hex'),
    builtAt: new Date().toISOString(),
  }
  writeFileSync(join(tree, 'dist/provenance.json'), `${JSON.stringify(provenance, null, 2)}\n`)

  step('pack')
  const packed = pack(tree, temp)
  console.log(`${(packed.bytes / 1_000).toFixed(0)} kB, ${packed.paths.length} files`)
  if (packed.bytes > maxPackedBytes) throw new Error(`the package is over ${maxPackedBytes / 1_000} kB`)
  if (!packed.paths.includes('dist/provenance.json')) throw new Error('the package lacks its provenance')

  step('install into an empty folder, and try')
  const installed = await tryPackage(packed.file, join(temp, 'try'))
  if (installed !== version) throw new Error(`the installed program says it is ${installed}`)

  if (isDry) {
    console.log(`\nAll is well. Nothing was changed; without --dry-run this would tag ${tag} on ${branch}.`)
  } else {
    step(`commit and tag ${tag}`)
    inTree('commit', '--quiet', '--all', '--message', `Release ${version}`)
    git('merge', '--quiet', '--ff-only', inTree('rev-parse', 'HEAD'))
    git('tag', '--annotate', tag, '--message', `agent-mailbox ${version}`)
    const kept = join(root, packed.file.slice(temp.length + 1))
    writeFileSync(kept, readFileSync(packed.file))
    console.log(`\nReady. To publish it:\n  git push origin ${branch} ${tag}\n  npm publish ${kept}`)
  }
} finally {
  git('worktree', 'remove', '--force', tree)
  rmSync(temp, { recursive: true, force: true })
}
