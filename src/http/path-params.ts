/** Every name that stands behind a colon in our paths, with an example. */
export const PATH_PARAMS = {
  id: {
    description: 'The id of the resource that the part before it names.',
    example: 'ws-6fMPHqWY3yLzK2vT',
  },
  execution_id: {
    description: 'The id of an execution, which an agent gets with its assignment.',
    example: 'exec-6fMPHqWY3yLzK2vT',
  },
  organization_name: { description: 'The name of the organization.', example: 'acme' },
  registry_name: {
    description: 'The registry: `private`, or `public` for what only refers to the public one.',
    example: 'private',
  },
  namespace: {
    description: 'The namespace; in the private registry the name of the organization.',
    example: 'acme',
  },
  name: { description: 'The name of the resource that the part before it names.', example: 'network' },
  provider: { description: 'The system that a module is for.', example: 'aws' },
  variable_id: { description: 'The id of a variable.', example: 'var-EavQ1LztoRTQHSNT' },
  version: { description: 'A semantic version, without a "v".', example: '1.2.3' },
  category: { description: 'A category of pages.', example: 'resources' },
  slug: { description: 'The name of a page within its category.', example: 'thing' },
  os: { description: 'An operating system, as Go names it.', example: 'linux' },
  arch: { description: 'A processor architecture, as Go names it.', example: 'amd64' },
  key_id: {
    description: 'The last 16 hexadecimal digits of the key’s fingerprint.',
    example: '32966F3FB5AC1129',
  },
  type: { description: 'A kind of resource.', example: 'workspaces' },
  expires: { description: 'When the link ends, in seconds since 1970.', example: '1795253400' },
  signature: { description: 'The proof that the server made the link.', example: 'q0Vh3h9T1h4' },
  hostname: {
    description: 'The host of a registry, with a port where it is not 443.',
    example: 'registry.terraform.io',
  },
  document: { description: 'A version, and `.json`.', example: '1.2.3.json' },
  filename: { description: 'A name for the file; it changes nothing.', example: 'SHA256SUMS' },
} as const
